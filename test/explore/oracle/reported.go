package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fieldsOf maps parts of a version's content to words in the names of the object's fields.
var fieldsOf = map[string]string{"InstanceType": "instanceType", "ImageId": "ami", "BlockDeviceMappings": "olume"}

// Reported finds versions that a write by Muster made, and whose description does not name a field that differs from the version
// that was the newest before it, as far as every client can know that.
func Reported(w Write) []string {
	var wrong []string
	for _, after := range w.After.Templates {
		for _, before := range w.Before.Templates {
			if after.ID != before.ID || after.Owner != w.Desired.Owner || len(before.Versions) == 0 || len(after.Versions) <= len(before.Versions) ||
				w.Desired.Keep == 0 {
				continue
			}
			made := after.Versions[0]
			for _, field := range differing(before.Versions[0].Content, made.Content) {
				if word := fieldsOf[field]; word != "" && !strings.Contains(made.Description, word) {
					wrong = append(wrong, fmt.Sprintf("%s made version %d of launch template %s, whose %s differs; its description says %q",
						w.Call, made.Number, after.Name, field, made.Description))
				}
			}
		}
	}
	return wrong
}

// differing returns the parts in which two contents differ.
func differing(before, after string) []string {
	a, b := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if json.Unmarshal([]byte(before), &a) != nil || json.Unmarshal([]byte(after), &b) != nil {
		return nil
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(a[name]) != string(b[name]) {
			list = append(list, name)
		}
	}
	return list
}
