"""The HTTP server: the API, streams of events and the dashboard, for users and programs on this machine."""
