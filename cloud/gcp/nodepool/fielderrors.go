package nodepool

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/request"
)

// fieldWords map words in messages of GKE that name no field of the request to the field that they are about.
var fieldWords = []struct{ words, field string }{
	{"preemptible and spot", "spec.spot"},
	{"machine type", "spec.instanceType"},
	{"disk type", "spec.diskType"},
	{"disk size", "spec.diskSizeGb"},
	{"image type", "spec.imageType"},
	{"node version", fieldVersion},
	{"version", fieldVersion},
	{"service account", "spec.nodeSecurity.serviceAccount.email"},
	{"auto_upgrade", "spec.management"},
	{"auto_repair", "spec.management"},
	{"max pods", "spec.maxPodsPerNode"},
	{"location", "spec.nodeLocations"},
	{"node_count", "spec.scaling"},
	{"node taint", "spec.kubernetesTaints"},
	{"surge", "spec.upgradeSettings"},
	{"blue_green", "spec.upgradeSettings"},
	{"batch_percentage", "spec.upgradeSettings"},
	{"zone", "spec.nodeLocations"},
}

// withField returns a refusal that names no field with the field that it is about, where GKE names one or its words tell.
func withField(err error) error {
	return driverkit.WithField(err, func(e *cloud.Error, part string) string {
		return cmp.Or(fieldOf(part), fieldOf(quoted(e.Message)), fieldOfWords(strings.ToLower(e.Message)))
	})
}

// fieldOfWords returns the field that a message is about by its words; empty for none.
func fieldOfWords(message string) string {
	for _, known := range fieldWords {
		if strings.Contains(message, known.words) {
			return known.field
		}
	}
	return ""
}

// fieldName is the name of a field in GKE's refusals: Invalid value for field "node_pool.config.disk_size_gb".
var fieldName = regexp.MustCompile(`field ['"]([\w.]+)['"]`)

// quoted returns the field of the request that a message names; empty for none.
func quoted(message string) string {
	if found := fieldName.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}

// fieldOf returns the field of the specification that a part of a request comes from: node_pool.config.machine_type, or machineType. It is
// empty for one that is not known.
func fieldOf(target string) string {
	for _, name := range strings.Split(target, ".") {
		name = strings.ReplaceAll(name, "_", "")
		if strings.EqualFold(name, "version") {
			return fieldVersion
		}
		if field := request.Parts.SpecOf(name); field != "" {
			return field
		}
	}
	return ""
}
