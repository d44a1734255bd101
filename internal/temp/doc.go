// Package temp makes throw-away directories that do not stay behind, with paths
// so short that sockets fit in.
//
// A directory is locked as long as its maker lives, and the system ends the
// lock with the process, however that ends. So whoever makes the next one knows
// which of the others belong to nobody, in any container, and removes them.
// Where the system has no such lock, what a killed process left stays.
package temp
