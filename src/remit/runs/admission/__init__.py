"""Admission: whether a delegation may be, and on which terms. What is settled here holds until its end."""
