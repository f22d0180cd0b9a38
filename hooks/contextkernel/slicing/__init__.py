"""From a symptom to the places of a repository that matter for it.

Entry: `slice.Slicer(repository, symptom_text, request)`.  All functions here are pure over plain
values: what is on disk comes in through the `repository` object that a handler passes
(`repository.Repository`).
"""
