"""Doors: where requests come in and answers go out. They parse, call `remit.app` and render; nothing is decided."""
