package aws

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

const (
	// instancePage is the largest page of instances.
	instancePage = 1000
	// maxRun is how many instances one call may launch.
	maxRun = 500
	// maxConsole is how much of its console an instance keeps: the newest 64 KiB.
	maxConsole = 64 << 10
)

func (r *realm) runInstances(in *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) {
	low, high := int(val(in.MinCount)), int(val(in.MaxCount))
	if low < 1 || high < low || high > maxRun {
		return nil, refuse("InvalidParameterValue", "MinCount %d and MaxCount %d are not within 1..%d", low, high, maxRun)
	}
	l, err := r.launchOf(in)
	if err != nil {
		return nil, err
	}
	if err := r.check(l); err != nil {
		return nil, err
	}
	id, err := r.once("RunInstances", str(in.ClientToken), in, func() (string, error) {
		l.reservation = r.newID("r")
		for n := range high {
			if _, err := r.start(l); err != nil {
				if n < low {
					r.unmake(l.reservation)
					return "", err
				}
				break
			}
		}
		return l.reservation, nil
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.RunInstancesOutput{ReservationId: ptr(id), OwnerId: ptr(r.account)}
	for _, i := range r.byLaunch() {
		if i.Reservation == id {
			out.Instances = append(out.Instances, r.showInstance(i))
		}
	}
	return out, nil
}

// unmake takes back the instances of a launch that could not be made whole.
func (r *realm) unmake(reservation string) {
	for id, i := range r.instances.All() {
		if i.Reservation == reservation {
			r.instances.Delete(id)
		}
	}
}

// launchOf is the launch that a call asks for, with what its template says where the call says nothing.
func (r *realm) launchOf(in *ec2.RunInstancesInput) (launch, error) {
	if err := checkUserData(str(in.UserData)); err != nil {
		return launch{}, err
	}
	data := &ec2.ResponseLaunchTemplateData{}
	if in.LaunchTemplate != nil {
		v, err := r.templateVersion(in.LaunchTemplate.LaunchTemplateId, in.LaunchTemplate.LaunchTemplateName, in.LaunchTemplate.Version)
		if err != nil {
			return launch{}, err
		}
		data = &v.Data
		if v.Blob != "" {
			data.UserData = ptr(r.kept(v.Blob))
		}
	}
	var given ec2.ResponseLaunchTemplateData
	if err := reshape(in, &given); err != nil {
		return launch{}, err
	}
	overlay(data, &given)
	for _, s := range data.TagSpecifications {
		if err := checkTags(s.Tags); err != nil {
			return launch{}, err
		}
	}
	l := r.launchFrom(data)
	l.kind = cmp.Or(l.kind, "m1.small")
	l.subnet = cmp.Or(str(in.SubnetId), l.subnet)
	l.blob, l.token = r.keep(str(data.UserData)), str(in.ClientToken)
	return l, nil
}

// templateVersion is a copy of a template's version.
func (r *realm) templateVersion(id, name, which *string) (version, error) {
	t, err := r.findTemplate(id, name)
	if err != nil {
		return version{}, err
	}
	v, err := r.versionOf(t, str(which))
	if err != nil {
		return version{}, err
	}
	return *v, nil
}

// byLaunch are all instances, the oldest first.
func (r *realm) byLaunch() []*instance {
	var out []*instance
	for _, i := range r.instances.All() {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b *instance) int { return cmp.Compare(a.Number, b.Number) })
	return out
}

func (r *realm) terminateInstances(in *ec2.TerminateInstancesInput) (*ec2.TerminateInstancesOutput, error) {
	if len(in.InstanceIds) == 0 {
		return nil, refuse("MissingParameter", "The request must contain the parameter InstanceId")
	}
	found, err := r.instancesByID(in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if i.alive() && val(i.Data.DisableApiTermination) {
			return nil, refuse("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
		}
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, i := range found {
		before := stateOf(i)
		r.stop(i, byUserCode, byUser)
		out.TerminatingInstances = append(out.TerminatingInstances, ec2.InstanceStateChange{
			InstanceId: ptr(i.ID), PreviousState: before, CurrentState: stateOf(i),
		})
	}
	return out, nil
}

// instancesByID are the instances of those IDs; all must exist.
func (r *realm) instancesByID(ids []string) ([]*instance, error) {
	var out []*instance
	var missing []string
	for _, id := range ids {
		if len(id) < 3 || id[:2] != "i-" {
			return nil, refuse("InvalidInstanceID.Malformed", `Invalid id: "%s"`, id)
		}
		i := r.instances.Get(id)
		if i == nil {
			missing = append(missing, id)
			continue
		}
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	switch len(missing) {
	case 0:
		return out, nil
	case 1:
		return nil, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", missing[0])
	default:
		return nil, refuse("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(missing, ", "))
	}
}

func stateOf(i *instance) *ec2.InstanceState {
	return &ec2.InstanceState{Name: i.State, Code: ptr(stateCodes[i.State])}
}

func (r *realm) describeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	found, err := r.instancesAsked(in.InstanceIds, in.Filters)
	if err != nil {
		return nil, err
	}
	if len(in.InstanceIds) == 0 {
		size = r.page(size)
	}
	page, next, err := paged(found, instanceKey, in.NextToken, size)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	for _, i := range page {
		last := len(out.Reservations) - 1
		if last < 0 || str(out.Reservations[last].ReservationId) != i.Reservation {
			out.Reservations = append(out.Reservations, ec2.Reservation{ReservationId: ptr(i.Reservation), OwnerId: ptr(r.account)})
			last++
		}
		out.Reservations[last].Instances = append(out.Reservations[last].Instances, r.showInstance(i))
	}
	return out, nil
}

func instanceKey(i *instance) string { return versionKey("", i.Number) }

// instancesAsked are the instances of those IDs, or all, that match the filters, the oldest first.
func (r *realm) instancesAsked(ids []string, filters []ec2.Filter) ([]*instance, error) {
	candidates := r.byLaunch()
	if len(ids) > 0 {
		named, err := r.instancesByID(ids)
		if err != nil {
			return nil, err
		}
		candidates = named
		slices.SortFunc(candidates, func(a, b *instance) int { return cmp.Compare(a.Number, b.Number) })
	}
	var out []*instance
	for _, i := range candidates {
		ok, err := matchFilters(filters, r.instanceAttributes(i), i.Tags)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, i)
		}
	}
	return out, nil
}

func (r *realm) instanceAttributes(i *instance) attributes {
	lifecycle := "scheduled"
	if i.Spot {
		lifecycle = "spot"
	}
	vpcID := ""
	if s := r.subnets.Get(i.Subnet); s != nil {
		vpcID = s.VPC
	}
	status := "ok"
	if i.impaired(r.now) {
		status = "impaired"
	}
	return attributes{
		"instance-id": {i.ID}, "instance-state-name": {i.State}, "instance-state-code": {strconv.Itoa(int(stateCodes[i.State]))},
		"instance-type": {i.Type}, "image-id": {i.Image}, "subnet-id": {i.Subnet}, "vpc-id": {vpcID}, "availability-zone": {i.Zone},
		"private-ip-address": {i.Address}, "private-dns-name": {r.hostname(i)}, "key-name": {i.Key}, "client-token": {i.Token},
		"instance.group-id": i.Groups, "network-interface.group-id": i.Groups, "instance-lifecycle": {lifecycle},
		"reservation-id": {i.Reservation}, "owner-id": {r.account}, "iam-instance-profile.arn": {r.profileARN(i)},
		"instance-status.status": {status}, "system-status.status": {status}, "launch-time": {i.Launch.UTC().Format("2006-01-02T15:04:05.000Z")},
	}
}

func (r *realm) describeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	found, err := r.instancesAsked(in.InstanceIds, in.Filters)
	if err != nil {
		return nil, err
	}
	if !val(in.IncludeAllInstances) {
		found = slices.DeleteFunc(found, func(i *instance) bool { return i.State != stateRunning })
	}
	page, next, err := paged(found, instanceKey, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceStatusOutput{NextToken: next}
	for _, i := range page {
		status := "not-applicable"
		switch {
		case i.impaired(r.now) && i.alive():
			status = "impaired"
		case i.State == stateRunning:
			status = "ok"
		}
		summary := &ec2.InstanceStatusSummary{Status: status}
		out.InstanceStatuses = append(out.InstanceStatuses, ec2.InstanceStatus{
			InstanceId: ptr(i.ID), AvailabilityZone: ptr(i.Zone), InstanceState: stateOf(i), InstanceStatus: summary, SystemStatus: summary,
		})
	}
	return out, nil
}

func (r *realm) getConsoleOutput(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
	found, err := r.instancesByID([]string{str(in.InstanceId)})
	if err != nil {
		return nil, err
	}
	out := &ec2.GetConsoleOutputOutput{InstanceId: in.InstanceId, Timestamp: stamp(r.now)}
	if r.server.host != nil {
		console := r.server.host.Console(found[0].ID)
		console = console[max(0, len(console)-maxConsole):]
		out.Output = ptr(base64.StdEncoding.EncodeToString(console))
	}
	return out, nil
}
