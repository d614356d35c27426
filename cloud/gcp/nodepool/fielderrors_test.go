package nodepool

import (
	"errors"
	"testing"

	"github.com/muster-project/muster/cloud"
)

// TestWithField holds that a refusal of GKE leads to the field of the object, where GKE names one or its words tell.
func TestWithField(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`Invalid value for field "node_pool.config.disk_size_gb": 5. Must be between 10 and 65536.`:   "spec.diskSizeGb",
		`Machine type with name "n9-standard-4" does not exist in zone "us-central1-a".`:              "spec.instanceType",
		`Image type "NOPE" is not supported.`:                                                         "spec.imageType",
		`Disk type "pd-nope" is not supported.`:                                                       "spec.diskType",
		`Node version "1.99.0" is unsupported.`:                                                       fieldVersion,
		`Auto_upgrade cannot be false when release_channel REGULAR is set.`:                           "spec.management",
		`Location "europe-west1-b" is not in region "us-central1" of the cluster.`:                    "spec.nodeLocations",
		`max_node_count must be at least 1 and greater than or equal to min_node_count, got 0 and 1.`: "spec.scaling",
		`The sum of max_surge and max_unavailable must be between 1 and 20, got 0 and 0.`:             "spec.upgradeSettings",
		`Only one of preemptible and spot can be set.`:                                                "spec.spot",
		`Node taint with key "a" and effect "NO_SCHEDULE" is invalid: keys are required.`:             "spec.kubernetesTaints",
		`Invalid value for field "node_pool.autoscaling": too many.`:                                  "spec.scaling",
		`The request has something in it that it refuses.`:                                            "",
	} {
		err := withField(&cloud.Error{Kind: cloud.Invalid, Message: message})
		var e *cloud.Error
		if !errors.As(err, &e) || e.Field != want {
			t.Errorf("%s: want %q, got %q", message, want, e.Field)
		}
	}
	if err := withField(&cloud.Error{Kind: cloud.Conflict, Message: "machine type"}); cloud.KindOf(err) != cloud.Conflict {
		t.Errorf("want a conflict left alone, got %v", err)
	}
}
