package aws_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/aws"
)

// fill gives every field of a shape a value of its own, so that one that gets lost or mixed up shows.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2030, 1, 1, 0, 0, *n%60, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("value <&> %d", *n))
	case reflect.Bool:
		v.SetBool(*n%2 == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	}
}

// Every field that the SDK can send comes back as it was sent, whatever the template is made of.
func TestTemplateDataRoundTrip(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		var data types.RequestLaunchTemplateData
		n := 0
		fill(reflect.ValueOf(&data).Elem(), &n)
		// These have a form that is checked.
		data.ImageId = awssdk.String("ami-0123456789abcdef0")
		data.UserData = awssdk.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/sh\n")))
		data.SecurityGroupIds, data.SecurityGroups = nil, nil
		for i := range data.BlockDeviceMappings {
			ebs := data.BlockDeviceMappings[i].Ebs
			ebs.VolumeType, ebs.SnapshotId, ebs.VolumeInitializationRate = types.VolumeTypeGp3, awssdk.String(fmt.Sprint("snap-", i)),
				awssdk.Int32(int32(100+i))
		}
		data.Placement.GroupId, data.Placement.HostResourceGroupArn = nil, nil
		data.Placement.Tenancy, data.Placement.Affinity = types.TenancyHost, awssdk.String("host")
		data.InstanceMarketOptions.MarketType, data.InstanceMarketOptions.SpotOptions = types.MarketTypeCapacityBlock, nil
		data.CapacityReservationSpecification.CapacityReservationPreference = types.CapacityReservationPreferenceCapacityReservationsOnly
		data.MetadataOptions = &types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpEndpoint: "enabled", HttpProtocolIpv6: "disabled", HttpPutResponseHopLimit: awssdk.Int32(7), HttpTokens: "required",
			InstanceMetadataTags: "enabled",
		}
		data.PrivateDnsNameOptions.HostnameType = types.HostnameTypeResourceName
		for i := range data.NetworkInterfaces {
			at := &data.NetworkInterfaces[i]
			at.DeviceIndex, at.NetworkCardIndex, at.InterfaceType = awssdk.Int32(int32(i)), awssdk.Int32(0), awssdk.String("efa")
			at.AssociatePublicIpAddress, at.SecondaryPrivateIpAddressCount, at.Ipv6PrefixCount = nil, nil, nil
		}
		_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("all"),
			LaunchTemplateData: &data})
		ok(t, err)
		read, err := w.ec2.DescribeLaunchTemplateVersions(t.Context(),
			&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: awssdk.String("all")})
		ok(t, err)
		want, got := asMap(t, data), asMap(t, *read.LaunchTemplateVersions[0].LaunchTemplateData)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what was sent (-) and what came back (+) differ:\n%s", diff)
		}
		if n < 250 {
			t.Errorf("want every field filled, got %d values only", n)
		}
	})
}

// asMap makes shapes of different types comparable by the names of their fields.
func asMap(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	ok(t, err)
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return prune(out)
}

// prune drops what is empty: a request and a response spell nothing differently.
func prune(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		if list, ok := v.([]any); ok {
			for i := range list {
				list[i] = prune(list[i])
			}
		}
		return v
	}
	for k, x := range m {
		x = prune(x)
		if x == nil || x == "" || reflect.DeepEqual(x, []any{}) || reflect.DeepEqual(x, map[string]any{}) {
			delete(m, k)
		} else {
			m[k] = x
		}
	}
	return m
}

// createTemplateRefusalsCases are the cases of TestCreateTemplateRefusals.
var createTemplateRefusalsCases = []struct {
	name, why string
	template  string
	change    func(*types.RequestLaunchTemplateData)
	want      string
}{
	{"short name", "names have at least three characters", "ab", nil, "InvalidLaunchTemplateName.MalformedException"},
	{"name taken", "names are unique in a region", "taken", nil, "InvalidLaunchTemplateName.AlreadyExistsException"},
	{"user data too large", "16 KiB before base64 is EC2's limit", "workers",
		func(d *types.RequestLaunchTemplateData) { d.UserData = &big }, "InvalidParameterValue"},
	{"user data not base64", "the API wants it encoded", "workers",
		func(d *types.RequestLaunchTemplateData) { d.UserData = awssdk.String("#cloud-config") }, "InvalidUserData.Malformed"},
	{"image malformed", "an image ID starts with ami-", "workers",
		func(d *types.RequestLaunchTemplateData) { d.ImageId = awssdk.String("ubuntu") }, "InvalidAMIID.Malformed"},
	{"group malformed", "a security group ID starts with sg-", "workers",
		func(d *types.RequestLaunchTemplateData) { d.SecurityGroupIds = []string{"nodes"} }, "InvalidGroupId.Malformed"},
	{"reserved tag", "aws: is AWS's own prefix", "workers", func(d *types.RequestLaunchTemplateData) {
		d.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{{ResourceType: "instance",
			Tags: []types.Tag{{Key: awssdk.String("aws:x"), Value: awssdk.String("y")}}}}
	}, "InvalidParameterValue"},
	{"io1 without iops", "provisioned volumes need their rate", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "io1"}}}
	}, "MissingParameter"},
	{"throughput of gp2", "only gp3 has one", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "gp2", Throughput: awssdk.Int32(125)}}}
	}, "InvalidParameterCombination"},
	{"a volume of no size", "volumes have at least a GiB", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "gp3", VolumeSize: awssdk.Int32(-1)}}}
	}, "InvalidParameterValue"},
	{"a volume that is too large", "each kind has its largest", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "gp2", VolumeSize: awssdk.Int32(16385)}}}
	}, "InvalidParameterValue"},
	{"unknown volume type", "the kinds are a closed set", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeType: "fast"}}}
	}, "InvalidParameterValue"},
	{"unknown tenancy", "the tenancies are a closed set", "workers", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{Tenancy: "shared"}
	}, "InvalidParameterValue"},
	{"a group by name and by ID", "one of them names it", "workers", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{GroupName: awssdk.String("g"), GroupId: awssdk.String("pg-1")}
	}, "InvalidParameterCombination"},
	{"a partition of nothing", "partitions are of placement groups", "workers", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{PartitionNumber: awssdk.Int32(1)}
	}, "InvalidParameterCombination"},
	{"a host of one's own without its tenancy", "hosts are for the tenancy host", "workers", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{HostId: awssdk.String("h-1"), Tenancy: types.TenancyDedicated}
	}, "InvalidParameterCombination"},
	{"spot on a host", "dedicated hosts are not sold so", "workers", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{Tenancy: types.TenancyHost}
		d.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeSpot}
	}, "InvalidParameterCombination"},
	{"a capacity block without its reservation", "a block is a reservation", "workers", func(d *types.RequestLaunchTemplateData) {
		d.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeCapacityBlock}
	}, "InvalidParameterCombination"},
	{"a reservation that is not to be used", "the preference says the opposite", "workers", func(d *types.RequestLaunchTemplateData) {
		d.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceNone,
			CapacityReservationTarget:     &types.CapacityReservationTarget{CapacityReservationId: awssdk.String("cr-1")},
		}
	}, "InvalidParameterCombination"},
	{"two interfaces in one place", "each has an index of its own", "workers", func(d *types.RequestLaunchTemplateData) {
		d.SecurityGroupIds = nil
		d.NetworkInterfaces = []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: awssdk.Int32(0)},
			{DeviceIndex: awssdk.Int32(0)}}
	}, "InvalidParameterCombination"},
	{"no first interface", "an instance begins with it", "workers", func(d *types.RequestLaunchTemplateData) {
		d.SecurityGroupIds = nil
		d.NetworkInterfaces = []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: awssdk.Int32(1)}}
	}, "InvalidParameterCombination"},
	{"a public address of several interfaces", "EC2 gives one to a single interface", "workers", func(d *types.RequestLaunchTemplateData) {
		d.SecurityGroupIds = nil
		d.NetworkInterfaces = []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: awssdk.Int32(0),
			AssociatePublicIpAddress: awssdk.Bool(true)}, {DeviceIndex: awssdk.Int32(1)}}
	}, "InvalidParameterCombination"},
	{"hops beyond count", "EC2 takes up to 64", "workers", func(d *types.RequestLaunchTemplateData) {
		d.MetadataOptions = &types.LaunchTemplateInstanceMetadataOptionsRequest{HttpPutResponseHopLimit: awssdk.Int32(65)}
	}, "InvalidParameterValue"},
	{"a rate without a snapshot", "nothing is fetched", "workers", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = []types.LaunchTemplateBlockDeviceMappingRequest{
			{Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeInitializationRate: awssdk.Int32(100)}}}
	}, "InvalidParameterCombination"},
}

var big = base64.StdEncoding.EncodeToString(make([]byte, 16385))

func TestCreateTemplateRefusals(t *testing.T) {
	for _, c := range createTemplateRefusalsCases {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				w.template("taken")
				data := w.data()
				if c.change != nil {
					c.change(data)
				}
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &c.template,
					LaunchTemplateData: data})
				t.Log(c.why)
				wantCode(t, err, c.want)
			})
		})
	}
}

// What only a launch would stumble on is accepted with a warning, as EC2 does.
func TestCreateTemplateWarns(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		data := w.data()
		data.ImageId, data.KeyName, data.InstanceType = awssdk.String("ami-0000000000000000f"), awssdk.String("outsider"), "m5.huge"
		data.SecurityGroupIds = []string{"sg-0000000000000000f"}
		out, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("odd"),
			LaunchTemplateData: data})
		ok(t, err)
		var got []string
		for _, e := range out.Warning.Errors {
			got = append(got, *e.Code)
		}
		want := []string{"InvalidAMIID.NotFound", "InvalidParameterValue", "InvalidKeyPair.NotFound", "InvalidGroup.NotFound"}
		if !slices.Equal(got, want) {
			t.Errorf("warnings: want %v, got %v", want, got)
		}
	})
}

func TestTemplateVersions(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.template("workers")
		other := w.template("others")
		for range 4 {
			w.version(id, w.data())
		}
		numbers := func(in *ec2.DescribeLaunchTemplateVersionsInput) []int64 {
			t.Helper()
			out, err := w.ec2.DescribeLaunchTemplateVersions(ctx, in)
			ok(t, err)
			var n []int64
			for _, v := range out.LaunchTemplateVersions {
				n = append(n, *v.VersionNumber)
			}
			return n
		}
		for _, c := range []struct {
			why  string
			in   *ec2.DescribeLaunchTemplateVersionsInput
			want []int64
		}{
			{"all, the newest first", &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id}, []int64{5, 4, 3, 2, 1}},
			{"named ones and aliases", &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id,
				Versions: []string{"$Latest", "$Default", "3"}}, []int64{5, 3, 1}},
			{"a range", &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, MinVersion: awssdk.String("2"),
				MaxVersion: awssdk.String("3")}, []int64{3, 2}},
			{"a filter", &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id,
				Filters: []types.Filter{{Name: awssdk.String("is-default-version"), Values: []string{"true"}}}}, []int64{1}},
		} {
			if got := numbers(c.in); !slices.Equal(got, c.want) {
				t.Errorf("%s: want %v, got %v", c.why, c.want, got)
			}
		}

		// Without a template, $Latest and $Default of all are served: one call for the whole account.
		all, err := w.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest", "$Default"}})
		ok(t, err)
		if n := len(all.LaunchTemplateVersions); n != 3 {
			t.Errorf("all templates: want versions 1 and 5 of one and 1 of the other, got %d", n)
		}

		var paged []int64
		p := ec2.NewDescribeLaunchTemplateVersionsPaginator(w.ec2,
			&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, MaxResults: awssdk.Int32(2)})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			ok(t, err)
			if len(page.LaunchTemplateVersions) > 2 {
				t.Errorf("want pages of two, got %d", len(page.LaunchTemplateVersions))
			}
			for _, v := range page.LaunchTemplateVersions {
				paged = append(paged, *v.VersionNumber)
			}
		}
		if want := []int64{5, 4, 3, 2, 1}; !slices.Equal(paged, want) {
			t.Errorf("pages: want %v, got %v", want, paged)
		}

		_, err = w.ec2.ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateId: &id, DefaultVersion: awssdk.String("4")})
		ok(t, err)
		deleted, err := w.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id,
			Versions: []string{"1", "4", "9"}})
		ok(t, err)
		if n := len(deleted.SuccessfullyDeletedLaunchTemplateVersions); n != 1 {
			t.Errorf("want version 1 deleted, got %d", n)
		}
		var codes []string
		for _, u := range deleted.UnsuccessfullyDeletedLaunchTemplateVersions {
			codes = append(codes, string(u.ResponseError.Code))
		}
		if want := []string{"unexpectedError", "launchTemplateVersionDoesNotExist"}; !slices.Equal(codes, want) {
			t.Errorf("the default version and one that is not there: want %v, got %v", want, codes)
		}
		if n := w.version(id, w.data()); n != 6 {
			t.Errorf("numbers are not used again: want 6, got %d", n)
		}

		_, err = w.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id,
			Versions: []string{"1"}})
		wantCode(t, err, "InvalidLaunchTemplateId.VersionNotFound")
		_, err = w.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &other})
		ok(t, err)
		_, err = w.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateIds: []string{other}})
		wantCode(t, err, "InvalidLaunchTemplateId.NotFound")
		_, err = w.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{"others"}})
		wantCode(t, err, "InvalidLaunchTemplateName.NotFoundException")
	})
}

// A version on top of another takes from it what the call leaves open, and leaves the other as it was.
func TestTemplateVersionFromSource(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.template("workers")
		out, err := w.ec2.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{
			LaunchTemplateId: &id, SourceVersion: awssdk.String("1"), VersionDescription: awssdk.String("bigger"),
			LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: "m5.xlarge"},
		})
		ok(t, err)
		d := out.LaunchTemplateVersion.LaunchTemplateData
		if d.InstanceType != "m5.xlarge" || awssdk.ToString(d.KeyName) != aws.KeyName || awssdk.ToString(d.UserData) == "" {
			t.Errorf("want the new type with the old key and user data, got %s, %s, %q", d.InstanceType, awssdk.ToString(d.KeyName),
				awssdk.ToString(d.UserData))
		}
		read, err := w.ec2.DescribeLaunchTemplateVersions(t.Context(),
			&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"1"}})
		ok(t, err)
		if got := read.LaunchTemplateVersions[0].LaunchTemplateData.InstanceType; got != aws.InstanceType {
			t.Errorf("version 1: want it unchanged at %s, got %s", aws.InstanceType, got)
		}
	})
}

// A client token makes a creation happen once, however often it is asked for; with other parameters it is refused.
func TestClientTokens(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx, token := t.Context(), awssdk.String("0123456789abcdef0123456789abcdef")
		in := &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("workers"), LaunchTemplateData: w.data(), ClientToken: token}
		first, err := w.ec2.CreateLaunchTemplate(ctx, in)
		ok(t, err)
		second, err := w.ec2.CreateLaunchTemplate(ctx, in)
		ok(t, err)
		if *first.LaunchTemplate.LaunchTemplateId != *second.LaunchTemplate.LaunchTemplateId {
			t.Errorf("want one template, got %s and %s", *first.LaunchTemplate.LaunchTemplateId, *second.LaunchTemplate.LaunchTemplateId)
		}
		in.LaunchTemplateName = awssdk.String("others")
		_, err = w.ec2.CreateLaunchTemplate(ctx, in)
		wantCode(t, err, "IdempotentParameterMismatch")

		version := &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateId: first.LaunchTemplate.LaunchTemplateId, LaunchTemplateData: w.data(),
			ClientToken: token}
		for range 3 {
			out, err := w.ec2.CreateLaunchTemplateVersion(ctx, version)
			ok(t, err)
			if n := *out.LaunchTemplateVersion.VersionNumber; n != 2 {
				t.Errorf("want version 2 each time, got %d", n)
			}
		}

		run := &ec2.RunInstancesInput{
			MinCount: awssdk.Int32(2), MaxCount: awssdk.Int32(2), SubnetId: awssdk.String(aws.SubnetID), ClientToken: token,
			LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: awssdk.String("workers"), Version: awssdk.String("$Latest")},
		}
		for range 2 {
			out, err := w.ec2.RunInstances(ctx, run)
			ok(t, err)
			if len(out.Instances) != 2 {
				t.Errorf("want the same 2 instances each time, got %d", len(out.Instances))
			}
		}
		if n := len(w.server.State(aws.AccountID, aws.Region).Instances); n != 2 {
			t.Errorf("want 2 instances in all, got %d", n)
		}
	})
}

// Tags of a template are set at its creation, changed later and found by filters, as owners need it.
func TestTemplateTags(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		out, err := w.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			LaunchTemplateName: awssdk.String("workers"), LaunchTemplateData: w.data(),
			TagSpecifications: []types.TagSpecification{{ResourceType: "launch-template",
				Tags: []types.Tag{{Key: awssdk.String("owner"), Value: awssdk.String("me")}}}},
		})
		ok(t, err)
		id := *out.LaunchTemplate.LaunchTemplateId
		_, err = w.ec2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id},
			Tags: []types.Tag{{Key: awssdk.String("owner"), Value: awssdk.String("you")}, {Key: awssdk.String("x"), Value: awssdk.String("y")}}})
		ok(t, err)
		_, err = w.ec2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: awssdk.String("x")}}})
		ok(t, err)
		found, err := w.ec2.DescribeLaunchTemplates(ctx,
			&ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{{Name: awssdk.String("tag:owner"), Values: []string{"y*"}}}})
		ok(t, err)
		if len(found.LaunchTemplates) != 1 || len(found.LaunchTemplates[0].Tags) != 1 || *found.LaunchTemplates[0].Tags[0].Value != "you" {
			t.Errorf("want one template with owner=you alone, got %+v", found.LaunchTemplates)
		}
		tags, err := w.ec2.DescribeTags(ctx, &ec2.DescribeTagsInput{Filters: []types.Filter{{Name: awssdk.String("resource-type"),
			Values: []string{"launch-template"}}}})
		ok(t, err)
		if len(tags.Tags) != 1 || *tags.Tags[0].ResourceId != id {
			t.Errorf("want the one tag, got %+v", tags.Tags)
		}
		_, err = w.ec2.DescribeLaunchTemplates(ctx,
			&ec2.DescribeLaunchTemplatesInput{Filters: []types.Filter{{Name: awssdk.String("colour"), Values: []string{"red"}}}})
		wantCode(t, err, "InvalidParameterValue")
	})
}

// An unknown parameter and an unknown action are refused, never ignored.
func TestUnknownIsRefused(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		_, err := w.ec2.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
		wantCode(t, err, "InvalidAction")
		_, err = w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{DryRun: awssdk.Bool(true)})
		wantCode(t, err, "DryRunOperation")
		_, err = w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("trial"),
			LaunchTemplateData: w.data(), DryRun: awssdk.Bool(true)})
		wantCode(t, err, "DryRunOperation")
		if n := len(w.server.State(aws.AccountID, aws.Region).Templates); n != 0 {
			t.Errorf("after a dry run: want no template, got %d", n)
		}
		if got := w.server.Calls().Count("ec2", "DescribeVolumes"); got != 1 {
			t.Errorf("want the refused call counted, got %d", got)
		}
		if strings.Contains(fmt.Sprint(w.server.Calls().Summary(0)), "secret") {
			t.Errorf("want no secret in the call log")
		}
	})
}
