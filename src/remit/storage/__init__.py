"""The workspace: what is on disk. The only room that opens files."""
