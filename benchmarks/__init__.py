"""Measures of the running service. They read data from paths given to them; none is kept here."""
