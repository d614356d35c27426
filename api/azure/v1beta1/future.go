package v1beta1

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

// ScaleSetService is the ecosystem's name for the service of operations on scale sets.
const ScaleSetService = "scalesets"

// FutureOf returns an operation on a scale set in the form of the status: the method that began it, its resource, and the token with which
// its state is requested.
func FutureOf(method, resource, token string) Future {
	parts := strings.Split(strings.Trim(resource[strings.Index(resource, "/")+1:], "/"), "/")
	return Future{
		Type: method, ServiceName: ScaleSetService, ResourceGroup: SegmentOf(resource, "resourceGroups"), Name: parts[len(parts)-1],
		Data: base64.URLEncoding.EncodeToString([]byte(token)),
	}
}

// Operation returns the resource and the token of the operation. It returns an error if Muster has not written the data.
func (f Future) Operation(subscription string) (resource, token string, err error) {
	text, err := base64.URLEncoding.DecodeString(f.Data)
	if err != nil {
		return "", "", fmt.Errorf("decode what operation %s on %s is asked about with: %w", f.Type, f.Name, err)
	}
	resource = fmt.Sprintf("azure:///subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachineScaleSets/%s", subscription,
		f.ResourceGroup, f.Name)
	return resource, string(text), nil
}

// SegmentOf returns the segment of a resource ID that follows a name, in whatever letters; empty where it has none.
func SegmentOf(id, name string) string {
	parts := strings.Split(id, "/")
	i := slices.IndexFunc(parts, func(part string) bool { return strings.EqualFold(part, name) })
	if i < 0 || i+1 == len(parts) {
		return ""
	}
	return parts[i+1]
}
