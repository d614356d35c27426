package launch

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
)

// network is a cluster with a public and a private subnet in zone a, a private one in b, a public one in c, one for pods,
// and one at the edge.
func network() []awsv1.SubnetView {
	return []awsv1.SubnetView{
		{ID: "subnet-pub-a", AvailabilityZone: "a", IsPublic: true},
		{ID: "subnet-a", AvailabilityZone: "a"},
		{ID: "subnet-b", AvailabilityZone: "b"},
		{ID: "subnet-pub-c", AvailabilityZone: "c", IsPublic: true},
		{ID: "subnet-pods", AvailabilityZone: "a", CNI: true},
		{ID: "subnet-edge", AvailabilityZone: "edge", ZoneType: "local-zone"},
		{ID: "", AvailabilityZone: "b"},
	}
}

func TestSubnets(t *testing.T) {
	public, all := awsv1.AZSubnetTypePublic, awsv1.AZSubnetTypeAll
	private := awsv1.AZSubnetTypePrivate
	ids := func(list ...string) (refs []awsv1.AWSResourceReference) {
		for _, id := range list {
			refs = append(refs, awsv1.AWSResourceReference{ID: &id})
		}
		return refs
	}
	for _, c := range []struct {
		reason  string
		pool    awsv1.AWSMachinePoolSpec
		domains []string
		cluster []awsv1.SubnetView
		want    []string
		field   string
	}{
		{"the pool's own subnets come first", awsv1.AWSMachinePoolSpec{Subnets: ids("subnet-b", "subnet-a", "subnet-b"),
			AvailabilityZones: []string{"c"}}, []string{"c"}, network(), []string{"subnet-a", "subnet-b"}, ""},
		{"then its zones", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"b"}}, []string{"a"}, network(), []string{"subnet-b"}, ""},
		{"a zone's private subnets are meant where it has any", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"a"}}, nil, network(),
			[]string{"subnet-a"}, ""},
		{"a zone with public subnets alone is used too", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"c"}}, nil, network(),
			[]string{"subnet-pub-c"}, ""},
		{"public ones on demand", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"a"}, AvailabilityZoneSubnetType: &public}, nil, network(),
			[]string{"subnet-pub-a"}, ""},
		{"both on demand, without those for pods", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"a"}, AvailabilityZoneSubnetType: &all},
			nil, network(), []string{"subnet-a", "subnet-pub-a"}, ""},
		{"an edge zone is used only if it is named", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"edge"}}, nil, network(),
			[]string{"subnet-edge"}, ""},
		{"every zone needs a subnet", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"a", "z"}}, nil, network(), nil,
			"spec.availabilityZones[1]"},
		{"a zone without a subnet of the kind is refused", awsv1.AWSMachinePoolSpec{AvailabilityZones: []string{"c"},
			AvailabilityZoneSubnetType: &private}, nil, network(), nil, "spec.availabilityZones[0]"},
		{"then the failure domains", awsv1.AWSMachinePoolSpec{}, []string{"b"}, network(), []string{"subnet-b"}, ""},
		{"then the cluster's private subnets, without those at the edge", awsv1.AWSMachinePoolSpec{}, nil, network(),
			[]string{"subnet-a", "subnet-b"}, ""},
		{"a cluster without any needs a word from the pool", awsv1.AWSMachinePoolSpec{}, nil, nil, nil, "spec.subnets"},
		{"a reference to nothing", awsv1.AWSMachinePoolSpec{Subnets: []awsv1.AWSResourceReference{{}}}, nil, network(), nil, "spec.subnets[0]"},
	} {
		r := (&session.Session{Region: "eu-west-1"}).Resolver(nil, time.Time{})
		got, err := Subnets(t.Context(), r, awsv1.ClusterView{Subnets: c.cluster}, Places{
			Subnets: c.pool.Subnets, Field: "spec.subnets", IDField: ".id", Zones: c.pool.AvailabilityZones,
			Kind: c.pool.AvailabilityZoneSubnetType, FailureDomains: c.domains,
		})
		if c.field != "" {
			var refused *cloud.Error
			if !errors.As(err, &refused) || refused.Field != c.field || refused.Kind != cloud.Invalid {
				t.Errorf("%s: want an invalid %s, got %v", c.reason, c.field, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: subnets, error %v (-want +got):\n%s", c.reason, err, diff)
		}
		if len(r.Remember) != 0 {
			t.Errorf("%s: want nothing looked up, got %v", c.reason, r.Remember)
		}
	}
}

func TestNoEnclavesAtTheEdge(t *testing.T) {
	template := awsv1.AWSLaunchTemplate{EnclaveOptions: &awsv1.EnclaveOptions{Enabled: new(true)}}
	at := sourceWith(template)
	at.Cluster.Subnets = network()
	if err := at.FitsIn([]string{"subnet-a"}); err != nil {
		t.Errorf("want enclaves to be fine in a usual zone, got %v", err)
	}
	if err := at.FitsIn([]string{"subnet-a", "subnet-edge"}); cloud.KindOf(err) != cloud.Invalid {
		t.Errorf("want enclaves in a local zone to be refused, got %v", err)
	}
	off := sourceWith(awsv1.AWSLaunchTemplate{})
	off.Cluster.Subnets = network()
	if err := off.FitsIn([]string{"subnet-edge"}); err != nil {
		t.Errorf("want a local zone to be fine without enclaves, got %v", err)
	}
}

func TestImageName(t *testing.T) {
	for _, c := range []struct {
		reason string
		query  imageQuery
		want   string
	}{
		{"what the ecosystem publishes", imageQuery{Version: "v1.25.0"}, "capa-ami-ubuntu-24.04-?1.25.0-*"},
		{"another base system", imageQuery{Version: "v1.25.0", BaseOS: "flatcar-stable"}, "capa-ami-flatcar-stable-?1.25.0-*"},
		{"an own format", imageQuery{Version: "v1.25.0", Format: "own-{{ .K8sVersion }}"}, "own-1.25.0"},
	} {
		if got, err := c.query.name(); err != nil || got != c.want {
			t.Errorf("%s: want %q, got %q, %v", c.reason, c.want, got, err)
		}
	}
	for _, format := range []string{"{{.Nope}}", "{{", "{{template \"x\"}}"} {
		if _, err := (imageQuery{Format: format}).name(); cloud.KindOf(err) != cloud.Invalid {
			t.Errorf("format %q: want it refused as invalid, got %v", format, err)
		}
	}
}

func TestEKSParameter(t *testing.T) {
	for _, c := range []struct {
		family       awsv1.EKSAMILookupType
		architecture string
		want         string
	}{
		{awsv1.AmazonLinux, "x86_64", "amazon-linux-2"},
		{awsv1.AmazonLinux, "arm64", "amazon-linux-2-arm64"},
		{awsv1.AmazonLinuxGPU, "x86_64", "amazon-linux-2-gpu"},
		{awsv1.AmazonLinux2023, "x86_64", "amazon-linux-2023/x86_64/standard"},
		{awsv1.AmazonLinux2023, "arm64", "amazon-linux-2023/arm64/standard"},
		{awsv1.AmazonLinux2023GPU, "x86_64", "amazon-linux-2023/x86_64/nvidia"},
	} {
		want := "/aws/service/eks/optimized-ami/1.30/" + c.want + "/recommended/image_id"
		if got := eksParameter(c.family, 30, c.architecture); got != want {
			t.Errorf("%s on %s: want %s, got %s", c.family, c.architecture, want, got)
		}
	}
}

func TestImageIsRememberedWhole(t *testing.T) {
	for _, i := range []image{anImage, {id: "ami-2"}} {
		got, err := parseImage(i.text())
		if err != nil || got != i {
			t.Errorf("want %+v back, got %+v, %v", i, got, err)
		}
	}
	for _, text := range []string{"", "ami-1", "ami-1 x86_64 /dev/sda1 big"} {
		if _, err := parseImage(text); err == nil {
			t.Errorf("remembered %q: want an error, got none", text)
		}
	}
}
