// Package bench measures the server side by side with a floor and with other
// libraries: real loopback sockets, clients in a process of their own that only
// count, every figure beside a reference measured in the same run.
//
// It is a module of its own so that what it compares with never enters the
// server's dependencies. docs/benchmarks.md says what the figures mean.
package bench
