package v1beta1

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The keys under which an object remembers where its cloud objects are, for when the infrastructure cluster is gone.
const (
	keepSubscription  = "subscription"
	keepResourceGroup = "resource-group"
	keepLocation      = "location"
	keepEnvironment   = "environment"
)

// RememberedImage begins the key under which an object remembers the image that was found for a Kubernetes version: an Image in JSON.
const RememberedImage = "image-"

// Remember returns the part of the view that an object stores, to find its cloud objects after the infrastructure cluster is gone.
func (v *ClusterView) Remember() map[string]string {
	return map[string]string{
		keepSubscription: v.SubscriptionID, keepResourceGroup: v.ResourceGroup, keepLocation: v.Location, keepEnvironment: v.Environment,
	}
}

// ClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes the
// content that is missing.
func ClusterViewRemembered(kept map[string]string, annotation string) (ClusterView, error) {
	v := ClusterView{
		SubscriptionID: kept[keepSubscription], ResourceGroup: kept[keepResourceGroup], Location: kept[keepLocation],
		Environment: kept[keepEnvironment],
	}
	if v.ResourceGroup == "" {
		return v, NotRemembered(annotation, "scale set", "")
	}
	return v, nil
}

// NotRemembered is the error of an object whose annotation does not say where its group is. more is a further part of what to write there,
// in JSON.
func NotRemembered(annotation, group, more string) error {
	return fmt.Errorf("the infrastructure of the cluster is gone, and metadata.annotations[%s] does not say where the %s is: "+
		`set it to {"%s": "<subscription ID>", "%s": "<resource group>", "%s": "<region>", "%s": "%s"%s}`,
		annotation, group, keepSubscription, keepResourceGroup, keepLocation, keepEnvironment, PublicCloud, more)
}

// ImageRemembered returns the one image that an object remembers; nil while there is none that is sure.
func ImageRemembered(kept map[string]string) *Image {
	var found []string
	for key, text := range kept {
		if strings.HasPrefix(key, RememberedImage) {
			found = append(found, text)
		}
	}
	is := &Image{}
	if len(found) != 1 || json.Unmarshal([]byte(found[0]), is) != nil {
		return nil
	}
	return is
}
