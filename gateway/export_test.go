package gateway

// MaxOwners is the bound of remembered owners.
const MaxOwners = maxOwners

// Owners is how many are remembered.
func (g *Gate) Owners() int { return g.owners.len() }
