"""T2 and T2b: from a symptom to the places of a repository that matter for it.

Entry: `slicing.slice_repository(repository, symptom_text, request)`.  All functions here are pure
over plain values:
what is on disk comes in through the `repository` object an entry passes (its shape:
`places.Repository`).
"""
