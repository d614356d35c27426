package providers

import (
	"errors"
	"fmt"
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
