"""The outside world of files: settings, blobs, the ledger, repository indexes."""
