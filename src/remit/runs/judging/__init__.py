"""Judging: what an agent says, beside what is on disk, and what therefore became of its delegation."""
