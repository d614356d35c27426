package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const end = "\nGenerated from the Go types by `make generate`.\n"

// pages returns the texts of all pages by the names of their files.
func pages(kinds []kind) map[string]string {
	texts := map[string]string{}
	var index strings.Builder
	index.WriteString("# API reference\n\nEach kind that Muster installs, with every field of its newest version. " +
		"`kubectl explain` shows the same in a cluster. [API versions](../api-versions.md) compares the versions of a kind, " +
		"[Admission](../admission.md) lists defaults and refusals of the core MachinePool.\n")
	group := ""
	for _, k := range slices.SortedStableFunc(slices.Values(kinds), func(a, b kind) int { return cmp.Compare(b.Group, a.Group) }) {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&index, "\n## %s\n\n", group)
		}
		name := strings.ToLower(k.Names.Kind) + ".md"
		fmt.Fprintf(&index, "* [%s](%s): %s\n", k.Names.Kind, name, prose(k.newest().Schema.OpenAPIV3Schema.Description))
		texts[name] = k.page()
	}
	index.WriteString(end)
	texts["README.md"] = index.String()
	return texts
}

// newest returns the version that objects are stored in.
func (k kind) newest() apiextensionsv1.CustomResourceDefinitionVersion {
	for _, v := range k.Versions {
		if v.Storage {
			return v
		}
	}
	return k.Versions[0]
}

// page returns the page of a kind.
func (k kind) page() string {
	newest := k.newest()
	schema := newest.Schema.OpenAPIV3Schema
	var text strings.Builder
	fmt.Fprintf(&text, "# %s\n\n%s\n\n", k.Names.Kind, prose(schema.Description))
	fmt.Fprintf(&text, "* API version: `%s/%s`", k.Group, newest.Name)
	for _, v := range k.Versions {
		if v.Name != newest.Name && v.Served {
			fmt.Fprintf(&text, "; `%s` is served too ([API versions](../api-versions.md))", v.Name)
		}
	}
	fmt.Fprintf(&text, "\n* Resource: `%s`", k.Names.Plural)
	if len(k.Names.ShortNames) > 0 {
		fmt.Fprintf(&text, ", in short `%s`", strings.Join(k.Names.ShortNames, "`, `"))
	}
	if k.Scope == apiextensionsv1.ClusterScoped {
		text.WriteString("; without a namespace")
	}
	text.WriteString("\n")
	if k.Template != "" {
		fmt.Fprintf(&text, "* In a [ClusterClass](../clusterclass.md): `%s`, whose `spec.template.spec` has the fields of `spec`\n", k.Template)
	}
	if len(k.Examples) > 0 {
		text.WriteString("* Examples:")
		for i, file := range k.Examples {
			if i > 0 {
				text.WriteString(",")
			}
			fmt.Fprintf(&text, " [%s](../../%s)", strings.TrimSuffix(path.Base(file), ".yaml"), file)
		}
		text.WriteString("\n")
	}
	for _, part := range []string{"spec", "status"} {
		if field, ok := schema.Properties[part]; ok {
			writeObject(&text, part, field, 2)
		}
	}
	text.WriteString(end)
	return text.String()
}

// writeObject writes a section for an object, and behind it those of the objects in it.
func writeObject(text *strings.Builder, at string, s apiextensionsv1.JSONSchemaProps, level int) {
	title := "`" + at + "`"
	if level == 2 {
		title = strings.ToUpper(at[:1]) + at[1:]
	}
	fmt.Fprintf(text, "\n%s %s\n\n", strings.Repeat("#", level), title)
	if about := prose(s.Description); about != "" {
		text.WriteString(about + "\n\n")
	}
	writeFields(text, at, "", s)
	writeRules(text, "", s)
	for _, name := range fieldNames(s) {
		if inner, suffix := objectIn(s.Properties[name]); inner != nil && !inline(*inner) && name != "conditions" {
			writeObject(text, at+"."+name+suffix, *inner, 3)
		}
	}
}

// fieldNames returns the fields of an object, required ones first.
func fieldNames(s apiextensionsv1.JSONSchemaProps) []string {
	return slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		required := func(name string) int {
			if slices.Contains(s.Required, name) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(required(a), required(b)), cmp.Compare(a, b))
	})
}

// writeFields writes an item for each field of an object.
func writeFields(text *strings.Builder, at, indent string, s apiextensionsv1.JSONSchemaProps) {
	for _, name := range fieldNames(s) {
		field := s.Properties[name]
		inner, suffix := objectIn(field)
		fmt.Fprintf(text, "%s* **`%s`** (%s", indent, name, typeOf(field))
		if slices.Contains(s.Required, name) {
			text.WriteString(", required")
		}
		text.WriteString(")")
		if sentences := strings.Join(slices.DeleteFunc([]string{prose(field.Description), limits(field)}, func(t string) bool { return t == "" }),
			" "); sentences != "" {
			text.WriteString(": " + sentences)
		}
		if name == "conditions" {
			text.WriteString(" [Conditions](../conditions.md) explains each.\n")
			continue
		}
		if inner != nil && !inline(*inner) {
			below := at + "." + name + suffix
			fmt.Fprintf(text, " Fields: [`%s`](#%s).", below, anchor(below))
			text.WriteString("\n")
			continue
		}
		text.WriteString("\n")
		if inner == nil {
			writeRules(text, indent+"  ", field)
			continue
		}
		writeRules(text, indent+"  ", *inner)
		writeFields(text, at+"."+name+suffix, indent+"  ", *inner)
	}
}

// writeRules writes the rules that the API server checks.
func writeRules(text *strings.Builder, indent string, s apiextensionsv1.JSONSchemaProps) {
	written := map[string]bool{}
	for _, rule := range s.XValidations {
		key := rule.FieldPath + rule.Message
		if written[key] {
			continue
		}
		written[key] = true
		of := ""
		if field := strings.TrimPrefix(rule.FieldPath, "."); field != "" {
			of = " for `" + field + "`"
		}
		if rule.Message != "" {
			fmt.Fprintf(text, "%s* Rule%s: %s.\n", indent, of, strings.TrimSuffix(prose(rule.Message), "."))
		}
	}
}

// mostInline is the number of fields up to which an object has no section of its own.
const mostInline = 4

// inline reports whether the fields of an object follow its own item: they are few, and none has fields.
func inline(s apiextensionsv1.JSONSchemaProps) bool {
	for _, field := range s.Properties {
		if inner, _ := objectIn(field); inner != nil {
			return false
		}
	}
	return len(s.Properties) <= mostInline
}

// objectIn returns the object that a field holds, by itself or in a list or a map, and what is put behind the field's name to name it. It
// returns nil if the field has no fields.
func objectIn(s apiextensionsv1.JSONSchemaProps) (*apiextensionsv1.JSONSchemaProps, string) {
	switch {
	case s.Items != nil && s.Items.Schema != nil && len(s.Items.Schema.Properties) > 0:
		return s.Items.Schema, "[]"
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && len(s.AdditionalProperties.Schema.Properties) > 0:
		return s.AdditionalProperties.Schema, "[]"
	case len(s.Properties) > 0:
		return &s, ""
	}
	return nil, ""
}

// typeOf returns the type of a field in words.
func typeOf(s apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "integer or string"
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + typeOf(*s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*s.AdditionalProperties.Schema)
	case s.Format == "date-time":
		return "time"
	case s.Type == "":
		return "any value"
	}
	return s.Type
}

// limits returns the values that a field may have, as sentences.
func limits(s apiextensionsv1.JSONSchemaProps) string {
	var list []string
	if s.Default != nil {
		list = append(list, fmt.Sprintf("Default: `%s`.", s.Default.Raw))
	}
	values := s.Enum
	if len(values) == 0 && s.Items != nil && s.Items.Schema != nil {
		values = s.Items.Schema.Enum
	}
	if len(values) > 0 {
		var words []string
		for _, v := range values {
			words = append(words, "`"+strings.Trim(string(v.Raw), `"`)+"`")
		}
		list = append(list, "One of: "+strings.ReplaceAll(strings.Join(words, ", "), "``", "empty")+".")
	}
	list = append(list, between(whole(s.Minimum), whole(s.Maximum), "Values"), between(s.MinLength, s.MaxLength, "Characters"),
		between(s.MinItems, s.MaxItems, "Entries"), between(s.MinProperties, s.MaxProperties, "Entries"))
	if s.Pattern != "" {
		list = append(list, "Pattern: `"+s.Pattern+"`.")
	}
	return strings.Join(slices.DeleteFunc(list, func(t string) bool { return t == "" }), " ")
}

// whole returns a limit as a whole number; nil if there is none.
func whole(limit *float64) *int64 {
	if limit == nil {
		return nil
	}
	n := int64(*limit)
	return &n
}

// between returns two limits as a sentence; empty without limits.
func between(low, high *int64, of string) string {
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf("%s: %d to %d.", of, *low, *high)
	case low != nil:
		return fmt.Sprintf("%s: at least %d.", of, *low)
	case high != nil:
		return fmt.Sprintf("%s: at most %d.", of, *high)
	}
	return ""
}

// special are the characters of a description that Markdown would take for its own.
var special = strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`, "_", `\_`)

// prose returns a description as one line of Markdown.
func prose(description string) string {
	return special.Replace(strings.Join(strings.Fields(description), " "))
}

// anchor returns the anchor that GitHub gives a heading of a path in backticks.
func anchor(at string) string {
	return strings.NewReplacer(".", "", "[", "", "]", "").Replace(strings.ToLower(at))
}
