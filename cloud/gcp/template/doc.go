// Package template translates the specification of a pool into the properties of an instance template, and tells templates apart by what
// machines get from them. It sends nothing.
package template
