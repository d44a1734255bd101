package pins

// FindUpTo is Find with another bound.
var FindUpTo = find
