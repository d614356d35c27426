// Package record keeps what was seen of an explored scenario: its trace, since when each machine serves, what became of a plan, how often
// the cloud was asked for what, and what the objects said before. It knows no world: what it needs is handed to it.
package record
