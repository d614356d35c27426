// Command crds turns what controller-gen wrote into what is embedded: it keeps the kinds that are asked for, puts the
// contract labels on them, and says in the schema what no marker can say.
//
//	crds -from DIR -to DIR [-label KEY=VALUE]... FILE...
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// adjustment changes the schema at one path of one version of a definition, or adds a version that has the fields of another.
type adjustment struct {
	Definition string   `json:"definition"`
	Version    string   `json:"version"`
	Path       []string `json:"path,omitempty"`
	// Change is a name in changes.
	Change string `json:"change,omitempty"`
	// Like is the version whose fields Version is served with.
	Like string `json:"like,omitempty"`
}

// changes are what an adjustment can do to a schema.
var changes = map[string]func(*apiextensionsv1.JSONSchemaProps){
	"anyItems":        takeAnyItems,
	"olderConditions": takeOlderConditions,
}

// readAdjustments returns the adjustments in files, one for each cloud.
func readAdjustments(pattern string) ([]adjustment, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	var all []adjustment
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading adjustments: %w", err)
		}
		var list []adjustment
		if err := yaml.UnmarshalStrict(data, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, a := range list {
			if a.Like == "" && changes[a.Change] == nil {
				return nil, fmt.Errorf("%s: there is no change %q", file, a.Change)
			}
		}
		all = append(all, list...)
	}
	return all, nil
}

// takeAnyItems takes the schema off the items of a list that are taken in more than one JSON type. They are checked where
// they are decoded.
func takeAnyItems(list *apiextensionsv1.JSONSchemaProps) {
	yes := true
	list.Items = &apiextensionsv1.JSONSchemaPropsOrArray{
		Schema: &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: &yes},
	}
}

// takeOlderConditions lets conditions be without a reason, as those in the older form are that other providers wrote: an
// object that carries one must not refuse every status that is written to it.
func takeOlderConditions(list *apiextensionsv1.JSONSchemaProps) {
	item := list.Items.Schema
	item.Required = slices.DeleteFunc(item.Required, func(name string) bool { return name == "reason" || name == "message" })
	reason := item.Properties["reason"]
	reason.MinLength, reason.Pattern = nil, ""
	item.Properties["reason"] = reason
}

// forgetChanges takes the rules away that compare an object with itself as it was. They say what can't be changed of one pool; what
// may be changed of a template is said by its webhook, which tells a change from a question of the topology controller's. Rules that
// hold for new objects too stay.
func forgetChanges(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations = slices.DeleteFunc(schema.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
		return strings.Contains(rule.Rule, "oldSelf") && (rule.OptionalOldSelf == nil || !*rule.OptionalOldSelf)
	})
	for name, property := range schema.Properties {
		forgetChanges(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		forgetChanges(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		forgetChanges(schema.AdditionalProperties.Schema)
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "crds:", err)
		os.Exit(1)
	}
}

func run() error {
	labels := map[string]string{}
	from := flag.String("from", "", "folder that controller-gen wrote to")
	to := flag.String("to", "", "folder to write to")
	pattern := flag.String("adjustments", "", "files with what no marker can tell of a schema, as a pattern")
	flag.Func("label", "label to put on every definition, as KEY=VALUE", func(value string) error {
		key, value, ok := strings.Cut(value, "=")
		if !ok {
			return errors.New("want KEY=VALUE")
		}
		labels[key] = value
		return nil
	})
	flag.Parse()
	adjustments, err := readAdjustments(*pattern)
	if err != nil {
		return err
	}
	for _, name := range flag.Args() {
		if err := convert(filepath.Join(*from, name), filepath.Join(*to, name), labels, adjustments); err != nil {
			return err
		}
	}
	return nil
}

func convert(from, to string, labels map[string]string, adjustments []adjustment) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading what controller-gen wrote: %w", err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(data, &definition); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if definition.Labels == nil {
		definition.Labels = map[string]string{}
	}
	for key, value := range labels {
		definition.Labels[key] = value
	}
	if err := adjust(&definition, adjustments); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := encode(&definition)
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	file, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("writing a definition: %w", err)
	}
	if _, err := file.Write(out); err != nil {
		return errors.Join(fmt.Errorf("writing a definition: %w", err), file.Close())
	}
	return file.Close()
}

// adjust changes in the schema what no marker can tell.
func adjust(definition *apiextensionsv1.CustomResourceDefinition, adjustments []adjustment) error {
	if strings.HasSuffix(definition.Spec.Names.Kind, "MachinePoolTemplate") {
		for i := range definition.Spec.Versions {
			forgetChanges(definition.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
	for _, a := range adjustments {
		if a.Definition != definition.Name {
			continue
		}
		if a.Like != "" {
			if err := serve(definition, a.Version, a.Like); err != nil {
				return err
			}
			continue
		}
		schema, err := find(definition, a.Version, a.Path)
		if err != nil {
			return err
		}
		changes[a.Change](schema)
		if err := replace(definition, a.Version, a.Path, *schema); err != nil {
			return err
		}
	}
	return nil
}

// serve adds a version with the fields of another one. The objects need no conversion then.
func serve(definition *apiextensionsv1.CustomResourceDefinition, name, like string) error {
	for _, v := range definition.Spec.Versions {
		if v.Name != like {
			continue
		}
		older := *v.DeepCopy()
		older.Name, older.Storage, older.Deprecated = name, false, true
		definition.Spec.Versions = append([]apiextensionsv1.CustomResourceDefinitionVersion{older}, definition.Spec.Versions...)
		return nil
	}
	return fmt.Errorf("there is no version %s to serve %s with", like, name)
}

func find(definition *apiextensionsv1.CustomResourceDefinition, version string, path []string) (*apiextensionsv1.JSONSchemaProps, error) {
	for i := range definition.Spec.Versions {
		if definition.Spec.Versions[i].Name != version {
			continue
		}
		schema := *definition.Spec.Versions[i].Schema.OpenAPIV3Schema
		for _, name := range path {
			next, ok := schema.Properties[name]
			if !ok {
				return nil, fmt.Errorf("%s has no %s", version, strings.Join(path, "."))
			}
			schema = next
		}
		return &schema, nil
	}
	return nil, fmt.Errorf("there is no version %s", version)
}

func replace(definition *apiextensionsv1.CustomResourceDefinition, version string, path []string,
	schema apiextensionsv1.JSONSchemaProps) error {
	if len(path) == 0 {
		return errors.New("the path is empty")
	}
	parent, err := find(definition, version, path[:len(path)-1])
	if err != nil {
		return err
	}
	parent.Properties[path[len(path)-1]] = schema // maps are shared with the definition
	return nil
}

// encode leaves out what a definition has only once an API server keeps it.
func encode(definition *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	data, err := yaml.Marshal(definition)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	delete(object, "status")
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	data, err = yaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	return append([]byte("# Generated by hack/generate.sh; do not edit.\n"), data...), nil
}
