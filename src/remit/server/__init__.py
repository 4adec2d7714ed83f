"""The HTTP door: the API, the stream of events and the dashboard's files, for people and programs on this machine."""
