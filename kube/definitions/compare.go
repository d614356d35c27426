package definitions

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// maxNamedFields bounds the number of fields that one difference names.
const maxNamedFields = 5

// Conversion describes the conversion webhook that serves the versions of this build's kinds.
type Conversion struct {
	// Service is the DNS name by which the API server calls the conversion webhook, SERVICE.NAMESPACE.svc or a host; empty if it is unknown,
	// so that conversions are not compared.
	Service string
	// Converted are the names of the definitions whose versions are converted by it. The others need no conversion.
	Converted []string
}

// Compare describes the parts of the wanted definition that another one lacks: served versions, fields, the status subresource, the
// conversion. Additional parts are no difference.
func Compare(want, found *apiextensionsv1.CustomResourceDefinition, c Conversion) []string {
	var list []string
	if found.Spec.Scope != want.Spec.Scope {
		list = append(list, fmt.Sprintf("scope: want %s, found %s", want.Spec.Scope, found.Spec.Scope))
	}
	for i := range want.Spec.Versions {
		if v := &want.Spec.Versions[i]; v.Served {
			list = append(list, compareVersion(v, version(found, v.Name))...)
		}
	}
	return append(list, c.compare(found)...)
}

// version returns a version that a definition serves, or nil.
func version(d *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.Spec.Versions {
		if v := &d.Spec.Versions[i]; v.Name == name && v.Served {
			return v
		}
	}
	return nil
}

func compareVersion(want, found *apiextensionsv1.CustomResourceDefinitionVersion) []string {
	if found == nil {
		return []string{want.Name + " is not served"}
	}
	var list []string
	if want.Subresources != nil && want.Subresources.Status != nil && (found.Subresources == nil || found.Subresources.Status == nil) {
		list = append(list, want.Name+" has no status subresource")
	}
	if want.Schema == nil || found.Schema == nil {
		return list
	}
	f := &fields{}
	f.compare("", want.Schema.OpenAPIV3Schema, found.Schema.OpenAPIV3Schema)
	if len(f.missing) > 0 {
		list = append(list, fmt.Sprintf("%s lacks %s", want.Name, named(f.missing)))
	}
	if len(f.typed) > 0 {
		list = append(list, fmt.Sprintf("%s has other types: %s", want.Name, named(f.typed)))
	}
	return list
}

// named lists the first items, and the number of the others.
func named(items []string) string {
	text := strings.Join(items[:min(len(items), maxNamedFields)], ", ")
	if more := len(items) - maxNamedFields; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// fields are the differences of two schemas, in the order of their paths.
type fields struct{ missing, typed []string }

func (f *fields) compare(path string, want, found *apiextensionsv1.JSONSchemaProps) {
	if want == nil || found == nil {
		return
	}
	if want.Type != "" && found.Type != "" && want.Type != found.Type {
		f.typed = append(f.typed, fmt.Sprintf("%s is %s, want %s", path, found.Type, want.Type))
		return
	}
	f.compareProperties(path, want, found)
	if want.Items != nil && found.Items != nil {
		f.compare(path+"[]", want.Items.Schema, found.Items.Schema)
	}
	if want.AdditionalProperties != nil && found.AdditionalProperties != nil {
		f.compare(path+"[]", want.AdditionalProperties.Schema, found.AdditionalProperties.Schema)
	}
}

// compareProperties compares the fields of an object. One whose fields may be any has all of them.
func (f *fields) compareProperties(path string, want, found *apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(want.Properties)) {
		below, at := want.Properties[name], strings.TrimPrefix(path+"."+name, ".")
		is, ok := found.Properties[name]
		switch {
		case ok:
			f.compare(at, &below, &is)
		case !ptr.Deref(found.XPreserveUnknownFields, false) && found.AdditionalProperties == nil:
			f.missing = append(f.missing, at)
		}
	}
}

func (c Conversion) compare(found *apiextensionsv1.CustomResourceDefinition) []string {
	if c.Service == "" {
		return nil
	}
	is := converter(found)
	switch {
	case slices.Contains(c.Converted, found.Name) && is == "":
		return []string{"conversion: want service " + c.Service + ", found none"}
	case is != "" && is != c.Service:
		return []string{"conversion: want " + c.describe(found.Name) + ", found " + is}
	}
	return nil
}

func (c Conversion) describe(name string) string {
	if slices.Contains(c.Converted, name) {
		return "service " + c.Service
	}
	return "none"
}

// converter names what converts the objects of a definition: the DNS name of a service, or that of a URL; empty if nothing does.
func converter(d *apiextensionsv1.CustomResourceDefinition) string {
	c := d.Spec.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return ""
	}
	if s := c.Webhook.ClientConfig.Service; s != nil {
		return s.Name + "." + s.Namespace + ".svc"
	}
	address := ptr.Deref(c.Webhook.ClientConfig.URL, "")
	if is, err := url.Parse(address); err == nil && is.Hostname() != "" {
		return is.Hostname()
	}
	return address
}
