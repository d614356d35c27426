// Package template translates the specification of a pool into the properties of an instance template, and tells templates apart by what
// machines get from them. The only reads it makes are those of machine types, once for each pool: what machines of a type offer is kept on
// the object, for an autoscaler that has no machine to look at.
package template
