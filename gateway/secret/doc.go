// Package secret reads and keeps what nobody else may know: files that only
// their owner can read, keys from a file, a command or the environment.
//
// It guarantees, where the system has such a thing, that a file with secrets is
// a regular file of this user that no other can read, that no link is followed
// to it, and that it is either there in full or not at all. It does not hide
// anything from root, nor from other programs of the same user before
// [Undumpable] was called.
package secret
