package crd_test

import (
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

func TestImagesOfAWSTemplates(t *testing.T) {
	t.Parallel()
	lookup, custom, family := awsv1.AmazonLinux2023, awsv1.AMITypeCustom, awsv1.AMITypeAL2023
	for name, c := range map[string]struct {
		reason     string
		spec       awsv1.AWSManagedMachinePoolSpec
		names, own bool
	}{
		"no template": {"EKS gives the image", awsv1.AWSManagedMachinePoolSpec{AMIType: &family}, false, false},
		"template": {"EKS gives the image", awsv1.AWSManagedMachinePoolSpec{AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{InstanceType: "a"}},
			false, false},
		"template and family": {"EKS gives the image",
			awsv1.AWSManagedMachinePoolSpec{AMIType: &family, AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{}}, false, false},
		"image": {"the template names it",
			awsv1.AWSManagedMachinePoolSpec{AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{AMI: awsv1.AMIReference{ID: new("ami-1")}}}, true, true},
		"family of EKS": {"a look-up names one too",
			awsv1.AWSManagedMachinePoolSpec{AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{AMI: awsv1.AMIReference{EKSOptimizedLookupType: &lookup}}},
			true, true},
		"pattern": {"a look-up names one too",
			awsv1.AWSManagedMachinePoolSpec{AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{ImageLookupBaseOS: "ubuntu"}}, true, true},
		"word alone": {"CUSTOM has the image looked up",
			awsv1.AWSManagedMachinePoolSpec{AMIType: &custom, AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{}}, false, true},
		"word without template": {"there is nothing to name it", awsv1.AWSManagedMachinePoolSpec{AMIType: &custom}, false, false},
	} {
		if names, own := c.spec.AWSLaunchTemplate.NamesImage(), c.spec.OwnImage(); names != c.names || own != c.own {
			t.Errorf("%s: %s: want named %v, own %v; got %v, %v", name, c.reason, c.names, c.own, names, own)
		}
	}
}

func TestVersionsKeptOfAWSTemplates(t *testing.T) {
	t.Parallel()
	for want, template := range map[int]*awsv1.AWSLaunchTemplate{3: nil, 7: {VersionsToKeep: new(int32(7))}} {
		if got := template.Keep(); got != want {
			t.Errorf("want %d versions kept, got %d", want, got)
		}
	}
	if got := (&awsv1.AWSLaunchTemplate{}).Keep(); got != awsv1.DefaultVersionsToKeep {
		t.Errorf("nothing said: want %d, got %d", awsv1.DefaultVersionsToKeep, got)
	}
}

func TestNodeLabelsOfAWSPools(t *testing.T) {
	t.Parallel()
	if got := (awsv1.NodeLabels{"a": "b"}).Strings(); len(got) != 1 || got["a"] != "b" {
		t.Errorf("want the same labels, got %v", got)
	}
	if got := (awsv1.NodeLabels{}).Strings(); got != nil {
		t.Errorf("want none, got %v", got)
	}
}
