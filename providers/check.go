package providers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/muster-project/muster/providers/gates"
)

// Check returns an error that names the providers which lack something that commands or the manager are made from.
func Check(list ...Provider) error {
	var errs []error
	for i, p := range list {
		name := p.Name
		if name == "" {
			name = fmt.Sprintf("number %d", i+1)
		}
		for _, field := range p.missing() {
			errs = append(errs, fmt.Errorf("provider %s: %s is missing", name, field))
		}
	}
	return errors.Join(errs...)
}

// CheckSetups returns an error that names the controllers of a provider which its connection cannot add to the manager, and those which the
// connection adds without being listed: no flag would switch them. A controller whose gate is off needs no setup.
func CheckSetups(p Provider, on gates.Gates, c *Connection) error {
	if c == nil {
		return fmt.Errorf("provider %s: Connect returned no connection", p.Name)
	}
	var errs []error
	listed := map[string]bool{}
	for _, controller := range p.Controllers {
		listed[controller.Name] = true
		off := controller.Gate != nil && !on.On(*controller.Gate)
		if !off && c.Setups[controller.Name] == nil {
			errs = append(errs, fmt.Errorf("provider %s: Controllers lists %s, and Connect has no setup for it", p.Name, controller.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Setups)) {
		if !listed[name] {
			errs = append(errs, fmt.Errorf("provider %s: Connect has a setup for %s, and Controllers does not list it", p.Name, name))
		}
	}
	return errors.Join(errs...)
}

// missing returns the fields that every provider has and this one lacks.
func (p Provider) missing() (fields []string) {
	lacks := func(field string, missing bool) {
		if missing {
			fields = append(fields, field)
		}
	}
	lacks("Name", p.Name == "")
	lacks("Title", p.Title == "")
	lacks("AddToScheme", len(p.AddToScheme) == 0)
	lacks("Connect", p.Connect == nil)
	lacks("Permissions", p.Permissions == nil)
	if p.Permissions != nil {
		document := p.Permissions()
		lacks("Permissions.AddFlags", document.AddFlags == nil)
		lacks("Permissions.Document", document.Document == nil)
		lacks("Permissions.Actions", document.Actions == nil)
	}
	return fields
}
