package v1beta2

import "testing"

func TestImages(t *testing.T) {
	t.Parallel()
	lookup, custom, family := AmazonLinux2023, AMITypeCustom, AMITypeAL2023
	for name, c := range map[string]struct {
		reason     string
		spec       AWSManagedMachinePoolSpec
		names, own bool
	}{
		"no template": {"EKS gives the image", AWSManagedMachinePoolSpec{AMIType: &family}, false, false},
		"template": {"EKS gives the image", AWSManagedMachinePoolSpec{AWSLaunchTemplate: &AWSLaunchTemplate{InstanceType: "a"}},
			false, false},
		"template and family": {"EKS gives the image", AWSManagedMachinePoolSpec{AMIType: &family, AWSLaunchTemplate: &AWSLaunchTemplate{}},
			false, false},
		"image": {"the template names it",
			AWSManagedMachinePoolSpec{AWSLaunchTemplate: &AWSLaunchTemplate{AMI: AMIReference{ID: new("ami-1")}}}, true, true},
		"family of EKS": {"a look-up names one too",
			AWSManagedMachinePoolSpec{AWSLaunchTemplate: &AWSLaunchTemplate{AMI: AMIReference{EKSOptimizedLookupType: &lookup}}}, true, true},
		"pattern": {"a look-up names one too",
			AWSManagedMachinePoolSpec{AWSLaunchTemplate: &AWSLaunchTemplate{ImageLookupBaseOS: "ubuntu"}}, true, true},
		"word alone": {"CUSTOM has the image looked up",
			AWSManagedMachinePoolSpec{AMIType: &custom, AWSLaunchTemplate: &AWSLaunchTemplate{}}, false, true},
		"word without template": {"there is nothing to name it", AWSManagedMachinePoolSpec{AMIType: &custom}, false, false},
	} {
		if names, own := c.spec.AWSLaunchTemplate.NamesImage(), c.spec.OwnImage(); names != c.names || own != c.own {
			t.Errorf("%s: %s: want named %v, own %v; got %v, %v", name, c.reason, c.names, c.own, names, own)
		}
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	for want, template := range map[int]*AWSLaunchTemplate{3: nil, 7: {VersionsToKeep: new(int32(7))}} {
		if got := template.Keep(); got != want {
			t.Errorf("want %d versions kept, got %d", want, got)
		}
	}
	if got := (&AWSLaunchTemplate{}).Keep(); got != DefaultVersionsToKeep {
		t.Errorf("nothing said: want %d, got %d", DefaultVersionsToKeep, got)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	if got := (NodeLabels{"a": "b"}).Strings(); len(got) != 1 || got["a"] != "b" {
		t.Errorf("want the same labels, got %v", got)
	}
	if got := (NodeLabels{}).Strings(); got != nil {
		t.Errorf("want none, got %v", got)
	}
}
