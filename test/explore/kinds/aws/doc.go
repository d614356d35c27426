// Package aws is the simulated account of AWS in which its kinds of pools are explored: what it holds, what is asked of it, what people do
// there, and launch templates, which both kinds have.
package aws
