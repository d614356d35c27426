// Package shapes holds the wire shapes of the operations that the simulated AWS answers: one package a service, generated
// from what the published SDK writes and reads, so that a name on the wire is never spelled by hand.
package shapes

//go:generate go run ./gen
