package launch

import (
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/core"
	"github.com/muster-project/muster/pool"
)

const (
	// version is that of the algorithm behind contents, contentDigits their length. A new algorithm is added to this one and never replaces
	// it.
	version       = "v1:"
	contentDigits = 16
)

// contentOf returns the hash of the values that instances get. Tags and bootstrap data are not part of it.
func contentOf(parts fields.Description) string {
	return version + cloud.Digest([]byte(written(parts)), contentDigits)
}

// Existing is an instance configuration that exists. The Ref of its template is its OCID.
type Existing struct {
	pool.Template
	// Name is the display name; Tags are the freeform tags.
	Name string
	Tags map[string]string
	// Created is when OCI created it, by its own clock.
	Created time.Time
	parts   fields.Description
}

// Listed returns a configuration of a list, which shows its tags and not its values.
func Listed(is core.InstanceConfigurationSummary) Existing {
	out := Existing{Template: pool.Template{Ref: value(is.Id)}, Name: value(is.DisplayName), Tags: is.FreeformTags,
		Created: timeOf(is.TimeCreated)}
	out.Content, out.Data = TemplateOf(is.FreeformTags)
	return out
}

// Read returns a configuration that was read by itself.
func Read(is *core.InstanceConfiguration) Existing {
	out := Existing{Template: pool.Template{Ref: value(is.Id)}, Name: value(is.DisplayName), Tags: is.FreeformTags,
		Created: timeOf(is.TimeCreated)}
	out.Content, out.Data = TemplateOf(is.FreeformTags)
	if is.InstanceDetails != nil && is.InstanceDetails.LaunchDetails != nil {
		out.parts = Rows.Describe(is.InstanceDetails.LaunchDetails)
	}
	return out
}

func timeOf(text *string) time.Time {
	at, err := time.Parse(time.RFC3339, value(text))
	if err != nil {
		return time.Time{} // it counts as the oldest
	}
	return at
}

func value(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// Known reports whether the values of the configuration are known.
func (e Existing) Known() bool { return e.parts != nil }

// Against returns the template of a configuration that Muster did not create, compared with the desired one: its content is the desired
// one if instances get the same from it.
func (e Existing) Against(want Template) pool.Template {
	out := e.Template
	out.UserManaged, out.Content, out.Data = true, "", ""
	if e.parts == nil {
		return out
	}
	if out.Content = contentOf(e.parts); want.parts != nil && len(e.differing(want)) == 0 {
		out.Content = want.Content
	}
	return out
}

// Differs returns the fields of the specification in which the configuration differs from the desired one, as far as its values are known.
func (e Existing) Differs(want Template) []string {
	if cloud.OtherBootstrap(e.Content, want.Content) {
		return []string{FieldBootstrap}
	}
	if want.parts == nil || e.parts == nil {
		return nil
	}
	return Rows.SpecsOf(e.differing(want))
}

// differing returns the names of the values that differ. OCI keeps a configuration as it was sent: a desired value that it lacks is a
// difference, and one that is not desired may be another tool's default.
func (e Existing) differing(want Template) []string {
	names := Rows.Changed(want.parts, e.parts, fields.Rolls)
	for name, desired := range want.parts {
		if _, shown := e.parts[name]; !shown && desired != "false" && desired != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
