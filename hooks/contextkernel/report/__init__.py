"""Reports: sums over the ledger, as data and as text."""
