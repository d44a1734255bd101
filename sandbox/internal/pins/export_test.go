package pins

// FindUpTo is Find with other bounds.
var FindUpTo = find
