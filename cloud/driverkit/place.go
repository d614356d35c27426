package driverkit

import (
	"cmp"
	"errors"
	"regexp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Place is a name that is a part of where a group is: a region, a project, a resource group.
type Place struct {
	// Object has the name in its field Field. Kind is the kind of the named location, such as "region".
	Object, Field, Kind string
	// Name is the value of the field. An empty one is not checked here.
	Name string
	// Names match what can be a name; nil takes letters, digits and the characters " _.():-". A variable that was not expanded is none.
	Names *regexp.Regexp
}

var placeNames = regexp.MustCompile(`^[\pL\pN _.():-]+$`)

// CheckPlaces returns an error that names the first of the fields whose name can't be one, nil if there is none. A pool that names no group
// can have none in such a place: Observe returns the error beside an empty observation then, so that the pool can be deleted.
func CheckPlaces(groupID string, places ...Place) error {
	for _, p := range places {
		if p.Name == "" || cmp.Or(p.Names, placeNames).MatchString(p.Name) {
			continue
		}
		err := cloud.Invalidf(p.Field, "the %s names the %s %q, which is none: set %s of the %s, and expand variables before the manifest is "+
			"applied", p.Object, p.Kind, p.Name, p.Field, p.Object)
		if groupID == "" {
			return &cloud.SpecUnsatisfiableError{Err: err}
		}
		return err
	}
	return nil
}

// unobservable returns what is observed of a pool whose pass can't begin: nothing, if nothing of it can exist.
func unobservable(err error) (pool.Observed, error) {
	nowhere := new(cloud.SpecUnsatisfiableError)
	exists := !errors.As(err, &nowhere)
	return pool.Observed{Cache: pool.CacheStatus{Fresh: !exists, GroupFresh: !exists}}, err
}
