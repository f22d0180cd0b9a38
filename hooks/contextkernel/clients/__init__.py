"""The clients: event shapes, replies, transcripts, JSON-RPC."""
