// Package world runs the local world: a supervisor with three children of the same binary, the API servers, the
// simulated clouds and the controllers. Each of them can be killed at any moment and is started again, and everything is
// found again in the world's directory.
package world
