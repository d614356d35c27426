package session

import "github.com/muster-project/muster/cloud"

// Spelling encodes the tags of owners as freeform tags, whose keys hold no period and no space (Oracle, Resource Tags). Every value that
// names an object fits.
var Spelling = cloud.Spelling{Key: func(name string) string { return tagPrefix + name }}

// tagPrefix begins the keys of Muster's own tags.
const tagPrefix = "muster-dev_"

// TagOf returns the value of a freeform tag by its key; empty without one.
func TagOf(tags map[string]string) func(key string) string {
	return func(key string) string { return tags[key] }
}
