package launch

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// full is a launch template in which everything is said.
func full() awsv1.AWSLaunchTemplate {
	return awsv1.AWSLaunchTemplate{
		IamInstanceProfile: "nodes.example",
		InstanceType:       "m5.large",
		SSHKeyName:         new("key"),
		RootVolume:         &awsv1.Volume{Size: 40, Type: "gp3", IOPS: 4000, Throughput: new(int64(200)), Encrypted: new(true)},
		NonRootVolumes:     []awsv1.Volume{{DeviceName: "/dev/xvdb", Size: 100, Type: "io2", IOPS: 5000, EncryptionKey: "alias/k"}},
		InstanceMetadataOptions: &awsv1.InstanceMetadataOptions{
			HTTPEndpoint: "enabled", HTTPProtocolIPv6: "enabled", HTTPPutResponseHopLimit: 2, HTTPTokens: "required",
			InstanceMetadataTags: "enabled",
		},
		EnclaveOptions: &awsv1.EnclaveOptions{Enabled: new(true)},
		PrivateDNSName: &awsv1.PrivateDNSName{EnableResourceNameDNSARecord: new(true),
			HostnameType: new(awsv1.HostnameTypeResourceName)},
		SpotMarketOptions:             &awsv1.SpotMarketOptions{MaxPrice: new("0.5")},
		CapacityReservationID:         new("cr-1"),
		CapacityReservationPreference: awsv1.CapacityReservationPreferenceOnly,
	}
}

// fuller is a launch template in which what came later is said too.
func fuller() awsv1.AWSLaunchTemplate {
	l := full()
	l.SpotMarketOptions = nil
	l.Placement = &awsv1.Placement{
		GroupName: new("g"), PartitionNumber: new(int32(2)), Tenancy: new(awsv1.TenancyHost), HostID: new("h-1"), Affinity: new("host"),
	}
	l.NetworkInterfaces = []awsv1.NetworkInterface{
		{DeviceIndex: 0, AssociatePublicIPAddress: new(false), Description: new("first"), IPv6AddressCount: new(int32(1)),
			PrimaryIPv6: new(true)},
		{DeviceIndex: 1, NetworkCardIndex: new(int32(1)), InterfaceType: new(awsv1.InterfaceTypeEFAOnly), DeleteOnTermination: new(true)},
	}
	l.NonRootVolumes[0].SnapshotID, l.NonRootVolumes[0].VolumeInitializationRate = new("snap-1"), new(int32(200))
	l.NonRootVolumes[0].DeleteOnTermination = new(false)
	return l
}

func sourceWith(template awsv1.AWSLaunchTemplate) Source {
	owner := cloud.Owner{ID: "owner", Cluster: "c", Namespace: "ns", Name: "p", GroupName: "g"}
	return Source{
		Owner: owner, Name: "g", Spec: &template, Tags: session.OwnTags(owner, awsv1.Tags{"team": "a"}),
		Cluster: awsv1.ClusterView{Region: "eu-west-1", NodeSecurityGroups: []string{"sg-node"}, SSHKeyName: new("cluster-key")},
	}
}

var anImage = image{id: "ami-1", architecture: "x86_64", rootDevice: "/dev/sda1", rootSize: 8}

func TestLaunchDataSaysEverything(t *testing.T) {
	got, err := launchData(sourceWith(full()), found{image: anImage, groups: []string{"sg-b", "sg-a", "sg-node"}})
	if err != nil {
		t.Fatal(err)
	}
	want := &ec2types.RequestLaunchTemplateData{
		InstanceType: "m5.large", ImageId: new("ami-1"), KeyName: new("key"),
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: new("nodes.example")},
		SecurityGroupIds:   []string{"sg-a", "sg-b", "sg-node"},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpEndpoint: "enabled", HttpProtocolIpv6: "enabled", HttpPutResponseHopLimit: new(int32(2)), HttpTokens: "required",
			InstanceMetadataTags: "enabled",
		},
		EnclaveOptions: &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: new(true)},
		PrivateDnsNameOptions: &ec2types.LaunchTemplatePrivateDnsNameOptionsRequest{EnableResourceNameDnsARecord: new(true),
			HostnameType: "resource-name"},
		InstanceMarketOptions: &ec2types.LaunchTemplateInstanceMarketOptionsRequest{
			MarketType: "spot", SpotOptions: &ec2types.LaunchTemplateSpotMarketOptionsRequest{MaxPrice: new("0.5")},
		},
		CapacityReservationSpecification: &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: "capacity-reservations-only",
			CapacityReservationTarget:     &ec2types.CapacityReservationTarget{CapacityReservationId: new("cr-1")},
		},
		BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMappingRequest{
			{DeviceName: new("/dev/sda1"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{
				DeleteOnTermination: new(true), VolumeSize: new(int32(40)), VolumeType: "gp3", Iops: new(int32(4000)), Throughput: new(int32(200)),
				Encrypted: new(true),
			}},
			{DeviceName: new("/dev/xvdb"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{
				DeleteOnTermination: new(true), VolumeSize: new(int32(100)), VolumeType: "io2", Iops: new(int32(5000)), Encrypted: new(true),
				KmsKeyId: new("alias/k"),
			}},
		},
	}
	opts := []gocmp.Option{cmpopts.IgnoreFields(ec2types.RequestLaunchTemplateData{}, "TagSpecifications"), ignoreSerde()}
	if diff := gocmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("what is sent (-want +got):\n%s", diff)
	}
	var kinds []string
	tags := map[string]string{}
	for _, s := range got.TagSpecifications {
		kinds = append(kinds, string(s.ResourceType))
		for _, tag := range s.Tags {
			tags[*tag.Key] = *tag.Value
		}
	}
	if diff := gocmp.Diff([]string{"instance", "volume"}, kinds); diff != "" {
		t.Errorf("what is tagged (-want +got):\n%s", diff)
	}
	wantTags := map[string]string{
		"Name": "g", "team": "a", "muster.dev/owner": "owner", "muster.dev/cluster": "c", "muster.dev/namespace": "ns", "muster.dev/pool": "p",
		"sigs.k8s.io/cluster-api-provider-aws/cluster/c": "owned", "sigs.k8s.io/cluster-api-provider-aws/role": "node",
		"kubernetes.io/cluster/c": "owned",
	}
	if diff := gocmp.Diff(wantTags, tags); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

// ignoreSerde leaves out the unexported marker that every type of the SDK embeds.
func ignoreSerde() gocmp.Option {
	return gocmp.FilterPath(func(p gocmp.Path) bool {
		f, ok := p.Last().(gocmp.StructField)
		return ok && f.Name() == "noSmithyDocumentSerde"
	}, gocmp.Ignore())
}

func TestContentHashIsGolden(t *testing.T) {
	for _, c := range []struct {
		reason   string
		template awsv1.AWSLaunchTemplate
		want     string
	}{
		{"the least: an upgrade that changes this rolls every pool", awsv1.AWSLaunchTemplate{InstanceType: "m5.large"}, "v1:6ef4a45872ede4c7"},
		{"the most", full(), "v1:c46a142c36dfdd62"},
		{"with everything that came later", fuller(), "v1:d3e4d10364515a06"},
	} {
		data, err := launchData(sourceWith(c.template), found{image: anImage})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := contentHash(data); err != nil || got != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.reason, c.want, got, err)
		}
	}
}

func TestContentHash(t *testing.T) {
	hash := func(change func(*awsv1.AWSLaunchTemplate)) string {
		template := full()
		change(&template)
		data, err := launchData(sourceWith(template), found{image: anImage})
		if err != nil {
			t.Fatal(err)
		}
		data.UserData = new("c2VjcmV0")
		got, err := contentHash(data)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	base := hash(func(*awsv1.AWSLaunchTemplate) {})
	for _, c := range []struct {
		reason string
		same   bool
		change func(*awsv1.AWSLaunchTemplate)
	}{
		{"another type", false, func(l *awsv1.AWSLaunchTemplate) { l.InstanceType = "m5.xlarge" }},
		{"another key", false, func(l *awsv1.AWSLaunchTemplate) { l.SSHKeyName = new("other") }},
		{"no key", false, func(l *awsv1.AWSLaunchTemplate) { l.SSHKeyName = new("") }},
		{"a larger root volume", false, func(l *awsv1.AWSLaunchTemplate) { l.RootVolume.Size++ }},
		{"another data volume", false, func(l *awsv1.AWSLaunchTemplate) { l.NonRootVolumes[0].IOPS++ }},
		{"no reservation preference", false, func(l *awsv1.AWSLaunchTemplate) { l.CapacityReservationPreference = "" }},
		{"metadata over IPv6", false, func(l *awsv1.AWSLaunchTemplate) { l.InstanceMetadataOptions.HTTPProtocolIPv6 = "disabled" }},
		{"no enclaves", false, func(l *awsv1.AWSLaunchTemplate) { l.EnclaveOptions.Enabled = new(false) }},
		{"a name for the template makes no other machine", true, func(l *awsv1.AWSLaunchTemplate) { l.Name = "other" }},
		{"spot said by its type is the same as spot by its options", true,
			func(l *awsv1.AWSLaunchTemplate) { l.MarketType = awsv1.MarketTypeSpot }},
		{"a version number is no content", true, func(l *awsv1.AWSLaunchTemplate) { l.VersionNumber = new(int64(7)) }},
	} {
		if got := hash(c.change); (got == base) != c.same {
			t.Errorf("%s: want the same hash: %t, got %s beside %s", c.reason, c.same, got, base)
		}
	}
	plain := func(e *awsv1.EnclaveOptions, p *awsv1.SpotMarketOptions) string {
		return hash(func(l *awsv1.AWSLaunchTemplate) { l.EnclaveOptions, l.SpotMarketOptions = e, p })
	}
	if plain(nil, nil) != plain(&awsv1.EnclaveOptions{Enabled: new(false)}, nil) {
		t.Error("want enclaves switched off to be the same as none asked for")
	}
	if plain(nil, &awsv1.SpotMarketOptions{}) != plain(nil, &awsv1.SpotMarketOptions{MaxPrice: new("")}) {
		t.Error("want an empty price to be the same as none")
	}
}

func TestEncodeLeavesNothingOut(t *testing.T) {
	// Every field of the SDK's structure must change the hash once it is set, but for the two that are no content.
	base, err := contentHash(&ec2types.RequestLaunchTemplateData{})
	if err != nil {
		t.Fatal(err)
	}
	typ := reflect.TypeFor[ec2types.RequestLaunchTemplateData]()
	for i := range typ.NumField() {
		field := typ.Field(i)
		if !field.IsExported() {
			continue
		}
		data := &ec2types.RequestLaunchTemplateData{}
		set(reflect.ValueOf(data).Elem().Field(i))
		got, err := contentHash(data)
		if err != nil {
			t.Fatal(err)
		}
		if (got == base) != outside[field.Name] {
			t.Errorf("field %s: want it to change the hash: %t, got %s beside %s", field.Name, !outside[field.Name], got, base)
		}
	}
}

// set gives a value some content, at any depth.
func set(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		set(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				set(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}

func TestLaunchDataRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, field string
		image         image
		change        func(*awsv1.AWSLaunchTemplate)
	}{
		{"a capacity block without its reservation", "spec.awsLaunchTemplate.capacityReservationId", anImage, func(l *awsv1.AWSLaunchTemplate) {
			l.MarketType, l.CapacityReservationID = awsv1.MarketTypeCapacityBlock, nil
		}},
		{"a market type that does not exist", "spec.awsLaunchTemplate.marketType", anImage,
			func(l *awsv1.AWSLaunchTemplate) { l.MarketType = "Barter" }},
		{"a root volume smaller than the image", "spec.awsLaunchTemplate.rootVolume.size",
			image{id: "ami-2", rootDevice: "/dev/sda1", rootSize: 50}, func(*awsv1.AWSLaunchTemplate) {}},
		{"a root volume where nothing says what its device is", "spec.awsLaunchTemplate.rootVolume.deviceName", image{id: "ami-2"},
			func(*awsv1.AWSLaunchTemplate) {}},
	} {
		template := full()
		c.change(&template)
		_, err := launchData(sourceWith(template), found{image: c.image})
		var got *cloud.Error
		if !errors.As(err, &got) || got.Kind != cloud.Invalid || got.Field != c.field {
			t.Errorf("%s: want an invalid %s, got %v", c.reason, c.field, err)
		}
	}
}

func TestKeyName(t *testing.T) {
	cluster := awsv1.ClusterView{SSHKeyName: new("cluster")}
	for _, c := range []struct {
		reason  string
		pool    *string
		cluster awsv1.ClusterView
		want    string
	}{
		{"the pool's own", new("own"), cluster, "own"},
		{"the empty word is none", new(""), cluster, ""},
		{"nothing said is the cluster's", nil, cluster, "cluster"},
		{"nothing said anywhere is none", nil, awsv1.ClusterView{}, ""},
	} {
		if got := ptr.Deref(keyName(&awsv1.AWSLaunchTemplate{SSHKeyName: c.pool}, c.cluster), ""); got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}

func TestInstanceProfile(t *testing.T) {
	if got := instanceProfile("arn:aws:iam::1:instance-profile/n"); ptr.Deref(got.Arn, "") == "" || got.Name != nil {
		t.Errorf("want an ARN to be sent as one, got %+v", got)
	}
}

func TestDescription(t *testing.T) {
	template := pool.Template{Content: "v1:0123456789abcdef", Data: "0123456789ab"}
	text := describe(template, "instanceType m5.large -> m5.xlarge")
	if want := "muster content=v1:0123456789abcdef data=0123456789ab instanceType m5.large -> m5.xlarge"; text != want {
		t.Errorf("want %q, got %q", want, text)
	}
	if long := describe(template, strings.Repeat("\u00e9", 200)+"\n"); len(long) > descriptionMost || !utf8.ValidString(long) ||
		!strings.HasSuffix(long, "...") {
		t.Errorf("want a text that EC2 takes that shows that it was cut, got %q of %d bytes", long, len(long))
	}
	for _, c := range []struct{ reason, text, content, data, about string }{
		{"what we write", text, template.Content, template.Data, "instanceType m5.large -> m5.xlarge"},
		{"what we wrote before", "muster content=v1:0123456789abcdef data=0123456789ab type=m5.large image=ami-1", template.Content,
			template.Data, "type=m5.large image=ami-1"},
		{"without further words", "muster content=v1:0123456789abcdef data=0123456789ab", template.Content, template.Data, ""},
		{"of a later algorithm", "muster content=v2:0123456789abcdef data=0123456789ab", "v2:0123456789abcdef", template.Data, ""},
		{"another owner's", "my version", "", "", ""},
		{"a user who talks about ours", "see muster content=v1:0123456789abcdef data=0123456789ab", "", "", ""},
		{"a hash that is too long", "muster content=v1:0123456789abcdef0 data=0123456789ab", "", "", ""},
		{"none", "", "", "", ""},
	} {
		if content, data, about := undescribe(c.text); content != c.content || data != c.data || about != c.about {
			t.Errorf("%s: want %q, %q, %q, got %q, %q, %q", c.reason, c.content, c.data, c.about, content, data, about)
		}
	}
}

func TestClientToken(t *testing.T) {
	template := pool.Template{Content: "v1:0123456789abcdef", Data: "0123456789ab"}
	token := clientToken("owner", template, "lt-1:3")
	if want := "c2a2af6156af577cbf98b18470988bf5"; token != want {
		t.Errorf("want the token %s, for it is in clouds, got %s", want, token)
	}
	for reason, other := range map[string]string{
		"another owner":              clientToken("other", template, "lt-1:3"),
		"another predecessor":        clientToken("owner", template, "lt-1:4"),
		"other bootstrap data":       clientToken("owner", pool.Template{Content: template.Content, Data: "ba9876543210"}, "lt-1:3"),
		"parts that run into others": clientToken("owner", pool.Template{Content: template.Content, Data: template.Data + "lt-1:3"}, ""),
	} {
		if other == token {
			t.Errorf("%s: want another token, got the same", reason)
		}
	}
}

func TestDelivery(t *testing.T) {
	long := strings.Repeat("- echo hello world, this can be compressed\n", 1000)
	noise := make([]byte, 20000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	bucket := &awsv1.BucketView{Name: "b"}
	store := &awsv1.Ignition{Version: "2.3", StorageType: awsv1.IgnitionStorageTypeOptionClusterObjectStore}
	inside := &awsv1.Ignition{Version: "2.3", StorageType: awsv1.IgnitionStorageTypeOptionUnencryptedUserData}
	for _, c := range []struct {
		reason, data, format string
		change               func(*Source)
		packed, stored       bool
		refused              string
	}{
		{reason: "short data is sent as it is", data: "#cloud-config\n"},
		{reason: "short data needs no bucket", data: "#cloud-config\n", change: func(s *Source) { s.Cluster.Bucket = bucket }},
		{reason: "data of exactly the limit is sent as it is", data: strings.Repeat("x", userDataLimit)},
		{reason: "longer data is compressed", data: long, packed: true},
		{reason: "data that stays too long is refused", data: string(noise), refused: fieldBootstrap},
		{reason: "data that stays too long goes through the bucket", data: string(noise), change: func(s *Source) { s.Cluster.Bucket = bucket },
			stored: true},
		{reason: "Ignition is refused while its gate is off", data: "{}", format: "ignition",
			change: func(s *Source) { s.IgnitionAllowed = false }, refused: fieldBootstrap},
		{reason: "what boots by Ignition can't read compressed data", data: long, format: "ignition", refused: fieldBootstrap},
		{reason: "long Ignition data goes through the bucket", data: long, format: "ignition",
			change: func(s *Source) { s.Cluster.Bucket = bucket }, stored: true},
		{reason: "short Ignition data does when asked to", data: "{}", format: "ignition",
			change: func(s *Source) { s.Cluster.Bucket, s.Ignition = bucket, store }, stored: true},
		{reason: "which needs a bucket", data: "{}", format: "ignition", change: func(s *Source) { s.Ignition = store }, refused: fieldStorage},
		{reason: "short Ignition data stays inside when asked to", data: "{}", format: "ignition",
			change: func(s *Source) { s.Cluster.Bucket, s.Ignition = bucket, inside }},
		{reason: "long Ignition data can't stay inside", data: long, format: "ignition",
			change: func(s *Source) { s.Cluster.Bucket, s.Ignition = bucket, inside }, refused: fieldStorage},
		{reason: "a node group's data can't be behind an address that ends", data: string(noise),
			change: func(s *Source) { s.Managed, s.OwnImage, s.Cluster.Bucket = true, true, bucket }, refused: fieldBootstrap},
		{reason: "nor can Ignition's", data: long, format: "ignition", change: func(s *Source) {
			s.Managed, s.OwnImage, s.Cluster.Bucket = true, true, &awsv1.BucketView{Name: "b", PresignedURLDuration: time.Hour}
		}, refused: fieldBootstrap},
		{reason: "which may be where the instance's own permissions reach", data: long, format: "ignition",
			change: func(s *Source) { s.Managed, s.OwnImage, s.Cluster.Bucket = true, true, bucket }, stored: true},
		{reason: "an unknown format is sent as it is", data: "version: v1alpha1\n", format: "raw"},
		{reason: "images of EKS that read no cloud-config are given none", data: "#cloud-config\n",
			change: func(s *Source) { s.Managed, s.Images = true, "BOTTLEROCKET_x86_64" }, refused: fieldBootstrap},
		{reason: "also to node groups", data: "[settings.kubernetes]\n", format: "bottlerocket", change: func(s *Source) { s.Managed = true }},
		{reason: "and is neither compressed nor elsewhere, for it is unknown who could read it then", data: long, format: "raw",
			change: func(s *Source) { s.Cluster.Bucket = bucket }, refused: fieldBootstrap},
		{reason: "what EKS merges can't be compressed", data: "MIME-Version: 1.0\n" + long,
			change: func(s *Source) { s.Managed, s.Cluster.Bucket = true, bucket }, refused: fieldBootstrap},
	} {
		format := cmp.Or(c.format, "cloud-config")
		s := sourceWith(awsv1.AWSLaunchTemplate{})
		s.Bootstrap, s.IgnitionAllowed = cloud.NewBootstrap([]byte(c.data), format), true
		if c.change != nil {
			c.change(&s)
		}
		got, err := s.deliver(!s.Managed || s.OwnImage)
		if c.refused != "" {
			var refused *cloud.Error
			if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != c.refused {
				t.Errorf("%s: want an invalid %s, got %v", c.reason, c.refused, err)
			}
			if len(c.data) > userDataLimit && !strings.Contains(refused.Message, "16384") {
				t.Errorf("%s: want the limit said, got %v", c.reason, err)
			}
			continue
		}
		if err != nil || got.stored != c.stored {
			t.Errorf("%s: want it stored: %t, got %t, %v", c.reason, c.stored, got.stored, err)
			continue
		}
		again, _ := s.deliver(!s.Managed || s.OwnImage)
		if !bytes.Equal(again.text, got.text) {
			t.Errorf("%s: want the same bytes each time", c.reason)
		}
		sent := got.text
		if c.packed {
			sent = unpack(t, sent)
		}
		if !c.stored && string(sent) != c.data {
			t.Errorf("%s: want the data back, got %d bytes", c.reason, len(sent))
		}
	}
}

func TestWhatEKSMerges(t *testing.T) {
	s := sourceWith(awsv1.AWSLaunchTemplate{})
	s.Managed = true
	for _, c := range []struct{ reason, data, kind string }{
		{"what the bootstrap provider of kubeadm writes", "## template: jinja\n#cloud-config\nruncmd: []\n", "text/jinja2"},
		{"cloud-config", "#cloud-config\nruncmd: []\n", "text/cloud-config"},
		{"a script", "#!/bin/bash\nexit 0\n", "text/x-shellscript"},
		{"what is a document of parts already", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"x\"\n\n--x--\n", ""},
		{"Bottlerocket's settings", "[settings.kubernetes]\n", ""},
	} {
		s.Bootstrap = cloud.NewBootstrap([]byte(c.data), "cloud-config")
		got, err := s.deliver(false)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if c.kind == "" {
			if string(got.text) != c.data {
				t.Errorf("%s: want it as it is, got %q", c.reason, got.text)
			}
			continue
		}
		message, err := mail.ReadMessage(bytes.NewReader(got.text))
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		part, err := multipart.NewReader(message.Body, parameters["boundary"]).NextPart()
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		body, err := io.ReadAll(part)
		if kind, _, _ := strings.Cut(part.Header.Get("Content-Type"), ";"); err != nil || kind != c.kind || string(body) != c.data {
			t.Errorf("%s: want it whole as %s, got %q as %s, %v", c.reason, c.kind, body, kind, err)
		}
	}
}

func unpack(t *testing.T, packed []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("want gzip: %v", err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("want whole gzip: %v", err)
	}
	return data
}

// TestBothKindsLaunchAlike holds that a template makes the same machines in both kinds, but for what EKS gives itself.
func TestBothKindsLaunchAlike(t *testing.T) {
	template := fuller()
	template.IamInstanceProfile = ""
	own := sourceWith(template)
	managed := own
	managed.Managed = true
	for _, c := range []struct {
		reason string
		found  found
		change func(*awsv1.AWSLaunchTemplate)
		groups []string
	}{
		{"security groups that are asked for stand beside the cluster's", found{image: anImage, groups: []string{"sg-a"}},
			func(l *awsv1.AWSLaunchTemplate) { l.NetworkInterfaces = nil }, []string{"sg-a", "sg-node"}},
		{"none asked for are EKS's matter", found{image: anImage}, func(l *awsv1.AWSLaunchTemplate) { l.NetworkInterfaces = nil }, nil},
		{"network interfaces name them in any case", found{image: anImage}, func(*awsv1.AWSLaunchTemplate) {}, nil},
	} {
		spec := template
		c.change(&spec)
		own.Spec, managed.Spec = &spec, &spec
		want, err := launchData(own, c.found)
		if err != nil {
			t.Fatal(err)
		}
		want.SecurityGroupIds = c.groups
		got, err := launchData(managed, c.found)
		if diff := gocmp.Diff(want, got, ignoreSerde()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.reason, err, diff)
		}
	}
	for field, change := range map[string]func(*awsv1.AWSLaunchTemplate){
		"spec.awsLaunchTemplate.iamInstanceProfile": func(l *awsv1.AWSLaunchTemplate) { l.IamInstanceProfile = "nodes" },
		"spec.awsLaunchTemplate.marketType":         func(l *awsv1.AWSLaunchTemplate) { l.MarketType = awsv1.MarketTypeSpot },
	} {
		spec := awsv1.AWSLaunchTemplate{}
		change(&spec)
		managed.Spec = &spec
		var refused *cloud.Error
		if _, err := launchData(managed, found{}); !errors.As(err, &refused) || refused.Field != field {
			t.Errorf("want %s refused for a node group, got %v", field, err)
		}
	}
	managed.Spec = &awsv1.AWSLaunchTemplate{RootVolume: &awsv1.Volume{Size: 30}}
	got, err := launchData(managed, found{})
	if err != nil || got.ImageId != nil || ptr.Deref(got.BlockDeviceMappings[0].DeviceName, "") != DefaultRootDevice {
		t.Errorf("want EKS's own image and its root device, got %+v, %v", got, err)
	}
	managed.Images = "WINDOWS_CORE_2022_x86_64"
	if got, err = launchData(managed, found{}); err != nil || ptr.Deref(got.BlockDeviceMappings[0].DeviceName, "") != windowsRootDevice {
		t.Errorf("want the root device of Windows, got %+v, %v", got, err)
	}
}
