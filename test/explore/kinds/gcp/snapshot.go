package gcp

import "github.com/muster-project/muster/sim/document"

// UserData returns the bootstrap data in the properties of a template.
func UserData(p document.Object) []byte {
	for _, item := range document.Objects(p, "metadata.items") {
		if document.Text(item, "key") == "user-data" {
			return []byte(document.Text(item, "value"))
		}
	}
	return nil
}
