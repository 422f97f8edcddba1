"""Tables of every kind: read by pandas, inspected once, made into a data set by what the inspection says."""
