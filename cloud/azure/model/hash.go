package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
)

const (
	// algorithm is the version of the content hash. A new one is added beside this, never in its place: what is in the cloud carries
	// hashes of old ones.
	algorithm = "v1"
	// seenAlgorithm is no hash of what was asked for but of what is seen, of something whose content is unknown.
	seenAlgorithm = "seen"
	// contentLength and inPlaceLength are in hex digits.
	contentLength = 16
	inPlaceLength = 8
	// secretLength, in hex digits, is how much of a secret's hash goes into the hash that is kept in a tag. A reader of tags can
	// try values: this is enough to notice a change and too little to find a value.
	secretLength = 5
)

// outside are the paths of what is no content: it has a hash of its own, or is changed in place, or belongs to the scale set and not to
// its machines, or can't be changed on a scale set that exists, so that all of its machines have the same.
var outside = []string{
	"tags", "zones", "location", "sku.capacity",
	"properties.orchestrationMode", "properties.platformFaultDomainCount", "properties.zoneBalance", "properties.singlePlacementGroup",
	"properties.overprovision", "properties.upgradePolicy",
	"properties.virtualMachineProfile.extensionProfile",
	"properties.virtualMachineProfile.priority", "properties.virtualMachineProfile.evictionPolicy",
	"properties.virtualMachineProfile.osProfile.customData", "properties.virtualMachineProfile.osProfile.adminPassword",
	"properties.virtualMachineProfile.osProfile.computerNamePrefix", "properties.virtualMachineProfile.osProfile.adminUsername",
	"properties.virtualMachineProfile.storageProfile.osDisk.osType", "properties.virtualMachineProfile.storageProfile.osDisk.diffDiskSettings",
	"properties.virtualMachineProfile.storageProfile.osDisk.managedDisk",
}

// contentHash is what tells models apart, by algorithm v1: the hash of what is sent, as it is on the wire. It depends on no more than
// the fields that are set and their values, so that a newer SDK changes nothing.
func contentHash(set armcompute.VirtualMachineScaleSet) (string, error) {
	text, err := json.Marshal(set)
	if err != nil {
		return "", fmt.Errorf("encode the scale set's model for its hash: %w", err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return "", fmt.Errorf("decode the scale set's model for its hash: %w", err)
	}
	for _, path := range outside {
		cut(tree, strings.Split(path, "."))
	}
	kept, _ := canonical("", tree)
	digest, err := digestOf(kept, contentLength)
	return algorithm + ":" + digest, err
}

// cut takes one path out of a tree.
func cut(tree map[string]any, path []string) {
	if len(path) == 1 {
		delete(tree, path[0])
		return
	}
	if below, ok := tree[path[0]].(map[string]any); ok {
		cut(below, path[1:])
	}
}

// canonical leaves out what is empty, and writes IDs in small letters, for Azure does not tell them apart by case.
func canonical(name string, value any) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		if name == "userAssignedIdentities" {
			return identityIDs(v), len(v) > 0
		}
		out := map[string]any{}
		for key, item := range v {
			if kept, ok := canonical(key, item); ok {
				out[key] = kept
			}
		}
		return out, len(out) > 0
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			kept, _ := canonical(name, item)
			out = append(out, kept)
		}
		return out, len(out) > 0
	case string:
		if name == "id" || strings.HasSuffix(name, "ImageId") {
			v = strings.ToLower(v)
		}
		return v, v != ""
	}
	return value, value != nil
}

// identityIDs are the keys of a map that has nothing else to say.
func identityIDs(tree map[string]any) []string {
	var ids []string
	for id := range tree {
		ids = append(ids, strings.ToLower(id))
	}
	slices.Sort(ids)
	return ids
}

// digestOf is the beginning of the SHA-256 of a value's canonical JSON: object keys are in order.
func digestOf(value any, length int) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", fmt.Errorf("encode what is to be hashed: %w", err)
	}
	return cloud.Digest(text.Bytes(), length), nil
}
