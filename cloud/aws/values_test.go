package aws_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

// values are launch templates in which each field of the API's type, by its path, has its legal values: both booleans, every word of
// an enumeration, zero, the empty text and the ends of a range. A field that is not here fails the test.
var values = map[string][]string{
	"name":           {`{"name":"other-template"}`},
	"versionsToKeep": {`{"versionsToKeep":2}`, `{"versionsToKeep":100}`},
	"versionNumber":  {`{"versionNumber":0}`, `{"versionNumber":7}`},
	"iamInstanceProfile": {`{"iamInstanceProfile":""}`, `{"iamInstanceProfile":"nodes"}`,
		`{"iamInstanceProfile":"arn:aws:iam::123456789012:instance-profile/nodes"}`},
	"ami.id": {`{"ami":{"id":"resolve:ssm:/aws/service/x"}}`},
	"ami.eksLookupType": {`{"ami":{"eksLookupType":"AmazonLinux"}}`, `{"ami":{"eksLookupType":"AmazonLinuxGPU"}}`,
		`{"ami":{"eksLookupType":"AmazonLinux2023"}}`, `{"ami":{"eksLookupType":"AmazonLinux2023GPU"}}`},
	"imageLookupFormat":     {`{"imageLookupFormat":""}`, `{"imageLookupFormat":"capa-ami-{{.BaseOS}}-?1.26.*"}`},
	"imageLookupOrg":        {`{"imageLookupOrg":""}`, `{"imageLookupOrg":"819546954734"}`},
	"imageLookupBaseOS":     {`{"imageLookupBaseOS":""}`, `{"imageLookupBaseOS":"ubuntu-24.04"}`},
	"instanceType":          {`{"instanceType":"m5.large"}`},
	"rootVolume.deviceName": {`{"rootVolume":{"size":20,"deviceName":""}}`, `{"rootVolume":{"size":20,"deviceName":"/dev/xvda"}}`},
	"rootVolume.size":       {`{"rootVolume":{"size":20}}`, `{"rootVolume":{"size":16384}}`},
	"rootVolume.type": {`{"rootVolume":{"size":200,"type":""}}`, `{"rootVolume":{"size":200,"type":"gp2"}}`,
		`{"rootVolume":{"size":200,"type":"gp3"}}`, `{"rootVolume":{"size":200,"type":"st1"}}`, `{"rootVolume":{"size":200,"type":"sc1"}}`,
		`{"rootVolume":{"size":200,"type":"standard"}}`},
	"rootVolume.iops": {`{"rootVolume":{"size":20,"type":"gp3","iops":0}}`, `{"rootVolume":{"size":20,"type":"io1","iops":100}}`,
		`{"rootVolume":{"size":20,"type":"io2","iops":64000}}`},
	"rootVolume.throughput": {`{"rootVolume":{"size":20,"type":"gp3","throughput":125}}`,
		`{"rootVolume":{"size":20,"type":"gp3","throughput":2000}}`},
	"rootVolume.encrypted": {`{"rootVolume":{"size":20,"encrypted":false}}`, `{"rootVolume":{"size":20,"encrypted":true}}`},
	"rootVolume.encryptionKey": {
		`{"rootVolume":{"size":20,"encryptionKey":""}}`, `{"rootVolume":{"size":20,"encryptionKey":"alias/k"}}`,
	},
	"rootVolume.deleteOnTermination": {`{"rootVolume":{"size":20,"deleteOnTermination":false}}`,
		`{"rootVolume":{"size":20,"deleteOnTermination":true}}`},
	"rootVolume.snapshotId": {`{"rootVolume":{"size":20,"snapshotId":"snap-0123456789abcdef0"}}`},
	"rootVolume.volumeInitializationRate": {`{"rootVolume":{"size":20,"snapshotId":"snap-0123456789abcdef0","volumeInitializationRate":100}}`,
		`{"rootVolume":{"size":20,"snapshotId":"snap-0123456789abcdef0","volumeInitializationRate":300}}`},
	"nonRootVolumes": {`{"nonRootVolumes":[]}`, `{"nonRootVolumes":[{"deviceName":"/dev/sdb","size":8}]}`,
		`{"nonRootVolumes":[{"deviceName":"/dev/sdb","size":8},{"deviceName":"/dev/sdc","size":9,"type":"gp3","throughput":125}]}`},
	"sshKeyName": {`{"sshKeyName":""}`, `{"sshKeyName":"default"}`},
	"additionalSecurityGroups.id": {`{"additionalSecurityGroups":[]}`,
		`{"additionalSecurityGroups":[{"id":"` + simaws.ControlPlaneSecurityGroupID + `"}]}`},
	"additionalSecurityGroups.filters": {`{"additionalSecurityGroups":[{"filters":[{"name":"group-name","values":["muster-*"]}]}]}`},
	"spotMarketOptions.maxPrice": {`{"spotMarketOptions":{}}`, `{"spotMarketOptions":{"maxPrice":""}}`,
		`{"spotMarketOptions":{"maxPrice":"0"}}`, `{"spotMarketOptions":{"maxPrice":"0.07"}}`},
	"marketType": {`{"marketType":"OnDemand"}`, `{"marketType":"Spot"}`,
		`{"marketType":"CapacityBlock","capacityReservationId":"cr-1"}`},
	"capacityReservationId": {`{"capacityReservationId":"cr-1"}`},
	"capacityReservationPreference": {`{"capacityReservationPreference":""}`, `{"capacityReservationPreference":"None"}`,
		`{"capacityReservationPreference":"CapacityReservationsOnly"}`, `{"capacityReservationPreference":"Open"}`},

	"instanceMetadataOptions.httpEndpoint": {`{"instanceMetadataOptions":{}}`,
		`{"instanceMetadataOptions":{"httpEndpoint":"enabled"}}`, `{"instanceMetadataOptions":{"httpEndpoint":"disabled"}}`},
	"instanceMetadataOptions.httpProtocolIpv6": {`{"instanceMetadataOptions":{"httpProtocolIpv6":"enabled"}}`,
		`{"instanceMetadataOptions":{"httpProtocolIpv6":"disabled"}}`},
	"instanceMetadataOptions.httpPutResponseHopLimit": {`{"instanceMetadataOptions":{"httpPutResponseHopLimit":1}}`,
		`{"instanceMetadataOptions":{"httpPutResponseHopLimit":64}}`},
	"instanceMetadataOptions.httpTokens": {`{"instanceMetadataOptions":{"httpTokens":"optional"}}`,
		`{"instanceMetadataOptions":{"httpTokens":"required"}}`},
	"instanceMetadataOptions.instanceMetadataTags": {`{"instanceMetadataOptions":{"instanceMetadataTags":"enabled"}}`,
		`{"instanceMetadataOptions":{"instanceMetadataTags":"disabled"}}`},
	"enclaveOptions.enabled": {`{"enclaveOptions":{}}`, `{"enclaveOptions":{"enabled":false}}`,
		`{"enclaveOptions":{"enabled":true}}`},
	"privateDnsName.enableResourceNameDnsAAAARecord": {`{"privateDnsName":{}}`, `{"privateDnsName":{"enableResourceNameDnsAAAARecord":false}}`,
		`{"privateDnsName":{"enableResourceNameDnsAAAARecord":true}}`},
	"privateDnsName.enableResourceNameDnsARecord": {`{"privateDnsName":{"enableResourceNameDnsARecord":false}}`,
		`{"privateDnsName":{"enableResourceNameDnsARecord":true}}`},
	"privateDnsName.hostnameType": {`{"privateDnsName":{"hostnameType":"ip-name"}}`, `{"privateDnsName":{"hostnameType":"resource-name"}}`},

	"placement.groupName": {`{"placement":{}}`, `{"placement":{"groupName":"g"}}`},
	"placement.groupId":   {`{"placement":{"groupId":"pg-0123456789abcdef0"}}`},
	"placement.partitionNumber": {`{"placement":{"groupName":"g","partitionNumber":1}}`,
		`{"placement":{"groupName":"g","partitionNumber":7}}`},
	"placement.tenancy": {`{"placement":{"tenancy":"default"}}`, `{"placement":{"tenancy":"dedicated"}}`,
		`{"placement":{"tenancy":"host"}}`},
	"placement.hostId": {`{"placement":{"tenancy":"host","hostId":"h-0123456789abcdef0"}}`},
	"placement.affinity": {`{"placement":{"tenancy":"host","affinity":"default"}}`,
		`{"placement":{"tenancy":"host","affinity":"host"}}`},
	"placement.hostResourceGroupArn": {`{"placement":{"hostResourceGroupArn":"arn:aws:resource-groups:eu-west-1:123456789012:group/hosts"}}`},

	"networkInterfaces.deviceIndex": {`{"networkInterfaces":[{"deviceIndex":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0},{"deviceIndex":1}]}`},
	"networkInterfaces.networkCardIndex": {`{"networkInterfaces":[{"deviceIndex":0,"networkCardIndex":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0},{"deviceIndex":1,"networkCardIndex":1}]}`},
	"networkInterfaces.interfaceType": {`{"networkInterfaces":[{"deviceIndex":0,"interfaceType":"interface"}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"interfaceType":"efa"}]}`,
		`{"networkInterfaces":[{"deviceIndex":0},{"deviceIndex":1,"interfaceType":"efa-only"}]}`},
	"networkInterfaces.description": {`{"networkInterfaces":[{"deviceIndex":0,"description":""}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"description":"first"}]}`},
	"networkInterfaces.associatePublicIpAddress": {`{"networkInterfaces":[{"deviceIndex":0,"associatePublicIpAddress":false}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"associatePublicIpAddress":true}]}`},
	"networkInterfaces.deleteOnTermination": {`{"networkInterfaces":[{"deviceIndex":0,"deleteOnTermination":false}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"deleteOnTermination":true}]}`},
	"networkInterfaces.securityGroups.id": {`{"networkInterfaces":[{"deviceIndex":0,"securityGroups":[{"id":"` +
		simaws.ControlPlaneSecurityGroupID + `"}]}]}`},
	"networkInterfaces.securityGroups.filters": {
		`{"networkInterfaces":[{"deviceIndex":0,"securityGroups":[{"filters":[{"name":"group-name","values":["muster-*"]}]}]}]}`},
	"networkInterfaces.secondaryPrivateIpAddressCount": {`{"networkInterfaces":[{"deviceIndex":0,"secondaryPrivateIpAddressCount":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"secondaryPrivateIpAddressCount":3}]}`},
	"networkInterfaces.ipv4PrefixCount": {`{"networkInterfaces":[{"deviceIndex":0,"ipv4PrefixCount":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"ipv4PrefixCount":2}]}`},
	"networkInterfaces.ipv6AddressCount": {`{"networkInterfaces":[{"deviceIndex":0,"ipv6AddressCount":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"ipv6AddressCount":2}]}`},
	"networkInterfaces.ipv6PrefixCount": {`{"networkInterfaces":[{"deviceIndex":0,"ipv6PrefixCount":0}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"ipv6PrefixCount":2}]}`},
	"networkInterfaces.primaryIpv6": {`{"networkInterfaces":[{"deviceIndex":0,"ipv6AddressCount":1,"primaryIpv6":false}]}`,
		`{"networkInterfaces":[{"deviceIndex":0,"ipv6AddressCount":1,"primaryIpv6":true}]}`},
}

// elsewhere are fields whose values have tests of their own: a template that is brought is never made. Those of a further volume are
// those of the root volume.
var elsewhere = []string{"existing.id", "existing.name", "existing.version", "additionalSecurityGroups.filters.",
	"networkInterfaces.securityGroups.filters.", "nonRootVolumes."}

// noMachines are the fields that make no other machines.
var noMachines = []string{"name", "versionsToKeep", "versionNumber"}

// lookedUp are the fields whose values here find the image that is found without them.
var lookedUp = []string{"imageLookupOrg", "imageLookupBaseOS"}

// pathsOf are the paths of all fields of a type, without the indices of lists.
func pathsOf(typ reflect.Type, prefix string) []string {
	var paths []string
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct {
			paths = append(paths, pathsOf(of, prefix+name+".")...)
			continue
		}
		paths = append(paths, prefix+name)
	}
	return paths
}

// covered reports whether a field's values are somewhere: under its own path, or under that of the list that it is within.
func covered(path string) bool {
	if values[path] != nil || slices.Contains(elsewhere, path) {
		return true
	}
	return slices.ContainsFunc(elsewhere, func(prefix string) bool {
		return strings.HasSuffix(prefix, ".") &&
			strings.HasPrefix(path, prefix)
	})
}

func TestEveryFieldOfTheTemplateIsTried(t *testing.T) {
	paths := pathsOf(reflect.TypeFor[awsv1.AWSLaunchTemplate](), "")
	for _, path := range paths {
		if !covered(path) {
			t.Errorf("awsLaunchTemplate.%s: want its legal values among those that are tried", path)
		}
	}
	for path := range values {
		if !slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") }) {
			t.Errorf("awsLaunchTemplate.%s: want no values for a field that is not there", path)
		}
	}
}

// valued is the small pool with a field's value.
func valued(t *testing.T, fragment string) aws.Target {
	t.Helper()
	return with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) {
		if err := json.Unmarshal([]byte(fragment), &s.AWSLaunchTemplate); err != nil {
			t.Fatalf("%s: %v", fragment, err)
		}
	})
}

// reconcile looks, decides and begins as often as asked for, ten minutes and more apart, and each time a different process.
func (w *world) reconcile(target aws.Target, times int) (aws.Target, pool.Observed) {
	w.t.Helper()
	var seen pool.Observed
	for k := range times {
		if k%7 == 6 {
			w.driver = w.newDriver()
		}
		var err error
		if seen, err = w.driver.Observe(w.t.Context(), target); err != nil {
			w.t.Fatalf("observe: %v", err)
		}
		target.Remembered = seen.ResolvedLookups
		plan := pool.Decide(pool.Desired{Max: 5}, seen, w.driver.Traits(), time.Now())
		if plan.Step != nil {
			// The group may be refused: a reservation, a placement group or a host need not exist.
			_ = w.driver.Start(w.t.Context(), target, *plan.Step)
		}
		time.Sleep(11 * time.Minute)
	}
	return target, seen
}

func TestNoValueLoops(t *testing.T) {
	for _, path := range slices.Sorted(maps.Keys(values)) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			fragments, passes := values[path], 20
			if testing.Short() {
				fragments, passes = fragments[:1], 4
			}
			for _, fragment := range fragments {
				inWorld(t, func(t *testing.T, w *world) {
					_, seen := w.reconcile(valued(t, fragment), passes)
					if len(seen.Versions) != 1 || !seen.Versions[0].Same(seen.Wanted) {
						t.Errorf("%s: want exactly one version in %d passes, got %+v for %+v, %v", fragment, passes, seen.Versions, seen.Wanted,
							seen.Issues)
					}
					made := 0
					for _, name := range w.wire.since(0) {
						if name == "CreateLaunchTemplate" || name == "CreateLaunchTemplateVersion" {
							made++
						}
					}
					if made != 1 {
						t.Errorf("%s: want one call that makes a version, got %d", fragment, made)
					}
				})
			}
		})
	}
}

func TestEveryFieldIsContent(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		plain := w.observe(aTarget()).Wanted.Content
		for _, path := range slices.Sorted(maps.Keys(values)) {
			others := map[string]bool{}
			for _, fragment := range values[path] {
				time.Sleep(time.Minute)
				if content := w.observe(valued(t, fragment)).Wanted.Content; content != plain {
					others[content] = true
				}
			}
			if want := !slices.Contains(noMachines, path) && !slices.Contains(lookedUp, path); (len(others) > 0) != want {
				t.Errorf("awsLaunchTemplate.%s: want some value of it to make other machines: %t, got %v beside %s", path, want, others, plain)
			}
		}
	})
}
