"""Programs: what is known of them, a module per kind; each says in HANDLERS whom it knows."""
