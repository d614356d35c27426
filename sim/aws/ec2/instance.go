package ec2

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

const (
	// instancePage is the largest page of instances.
	instancePage = 1000
	// maxRun limits the instances that one call launches.
	maxRun = 500
	// maxConsole limits the console output that is kept of an instance: the newest 64 KiB.
	maxConsole = 64 << 10
)

func (r *Instances) runInstances(in *ec2.RunInstancesInput) (*ec2.RunInstancesOutput, error) {
	low, high := int(shapes.Val(in.MinCount)), int(shapes.Val(in.MaxCount))
	if low < 1 || high < low || high > maxRun {
		return nil, wire.Refuse("InvalidParameterValue", "MinCount %d and MaxCount %d are not within 1..%d", low, high, maxRun)
	}
	l, err := r.Launcher.launchOf(in)
	if err != nil {
		return nil, err
	}
	if err := r.Launcher.Check(l); err != nil {
		return nil, err
	}
	id, err := r.Once("RunInstances", shapes.Str(in.ClientToken), in, func() (string, error) {
		l.Reservation = r.NewID("r")
		for n := range high {
			if _, err := r.Launcher.Start(l); err != nil {
				if n < low {
					r.removeReservation(l.Reservation)
					return "", err
				}
				break
			}
		}
		return l.Reservation, nil
	})
	if err != nil {
		return nil, err
	}
	out := &ec2.RunInstancesOutput{ReservationId: new(id), OwnerId: new(r.Account)}
	for _, i := range r.ByLaunch() {
		if i.Reservation == id {
			out.Instances = append(out.Instances, r.showInstance(i))
		}
	}
	return out, nil
}

// removeReservation takes back the instances of a launch that could not be made whole.
func (r *Instances) removeReservation(reservation string) {
	for id, i := range r.Rows.All() {
		if i.Reservation == reservation {
			r.Rows.Delete(id)
		}
	}
}

// launchOf is the launch that a call asks for, with what its template says where the call says nothing.
func (r *Launcher) launchOf(in *ec2.RunInstancesInput) (Launch, error) {
	if err := checkUserData(shapes.Str(in.UserData)); err != nil {
		return Launch{}, err
	}
	data := &ec2.ResponseLaunchTemplateData{}
	if in.LaunchTemplate != nil {
		v, err := r.Templates.TemplateVersion(in.LaunchTemplate.LaunchTemplateId, in.LaunchTemplate.LaunchTemplateName, in.LaunchTemplate.Version)
		if err != nil {
			return Launch{}, err
		}
		data = &v.Data
		if v.Blob != "" {
			data.UserData = new(r.Templates.UserData.Kept(v.Blob))
		}
	}
	var given ec2.ResponseLaunchTemplateData
	if err := shapes.Reshape(in, &given); err != nil {
		return Launch{}, err
	}
	shapes.Overlay(data, &given)
	for _, s := range data.TagSpecifications {
		if err := checkTags(s.Tags); err != nil {
			return Launch{}, err
		}
	}
	l := r.LaunchFrom(data)
	l.Kind = cmp.Or(l.Kind, "m1.small")
	l.Subnet = cmp.Or(shapes.Str(in.SubnetId), l.Subnet)
	l.Blob, l.token = r.Templates.UserData.Keep(shapes.Str(data.UserData), shapes.Str(data.UserData)), shapes.Str(in.ClientToken)
	return l, nil
}

// TemplateVersion is a copy of a template's version.
func (r *Templates) TemplateVersion(id, name, which *string) (Version, error) {
	t, err := r.FindTemplate(id, name)
	if err != nil {
		return Version{}, err
	}
	v, err := r.VersionOf(t, shapes.Str(which))
	if err != nil {
		return Version{}, err
	}
	return *v, nil
}

// ByLaunch are all instances, the oldest first.
func (r *Instances) ByLaunch() []*Instance { return r.Rows.Of("") }

func (r *Instances) terminateInstances(in *ec2.TerminateInstancesInput) (*ec2.TerminateInstancesOutput, error) {
	if len(in.InstanceIds) == 0 {
		return nil, wire.Refuse("MissingParameter", "The request must contain the parameter InstanceId")
	}
	found, err := r.instancesByID(in.InstanceIds)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if i.Alive() && shapes.Val(i.Data.DisableApiTermination) {
			return nil, wire.Refuse("OperationNotPermitted",
				"The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
		}
	}
	out := &ec2.TerminateInstancesOutput{}
	for _, i := range found {
		before := stateOf(i)
		r.Stop(i, ByUserCode, ByUser)
		out.TerminatingInstances = append(out.TerminatingInstances, ec2.InstanceStateChange{
			InstanceId: new(i.ID), PreviousState: before, CurrentState: stateOf(i),
		})
	}
	return out, nil
}

// instancesByID are the instances of those IDs; all must exist.
func (r *Instances) instancesByID(ids []string) ([]*Instance, error) {
	var out []*Instance
	var missing []string
	for _, id := range ids {
		if len(id) < 3 || id[:2] != "i-" {
			return nil, wire.Refuse("InvalidInstanceID.Malformed", `Invalid id: "%s"`, id)
		}
		i := r.Rows.Get(id)
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
		return nil, wire.Refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", missing[0])
	default:
		return nil, wire.Refuse("InvalidInstanceID.NotFound", "The instance IDs '%s' do not exist", strings.Join(missing, ", "))
	}
}

func stateOf(i *Instance) *ec2.InstanceState {
	return &ec2.InstanceState{Name: i.State, Code: new(stateCodes[i.State])}
}

func (r *Instances) describeInstances(in *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	found, err := r.instancesAsked(in.InstanceIds, in.Filters)
	if err != nil {
		return nil, err
	}
	if len(in.InstanceIds) == 0 {
		size = r.Page(size)
	}
	page, next, err := account.Paged(r.Core, found, instanceKey, in.NextToken, size)
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstancesOutput{NextToken: next}
	for _, i := range page {
		last := len(out.Reservations) - 1
		if last < 0 || shapes.Str(out.Reservations[last].ReservationId) != i.Reservation {
			out.Reservations = append(out.Reservations, ec2.Reservation{ReservationId: new(i.Reservation), OwnerId: new(r.Account)})
			last++
		}
		out.Reservations[last].Instances = append(out.Reservations[last].Instances, r.showInstance(i))
	}
	return out, nil
}

func instanceKey(i *Instance) string { return VersionKey("", i.Number) }

// instancesAsked are the instances of those IDs, or all, that match the filters, the oldest first.
func (r *Instances) instancesAsked(ids []string, filters []ec2.Filter) ([]*Instance, error) {
	candidates := r.ByLaunch()
	if len(ids) > 0 {
		named, err := r.instancesByID(ids)
		if err != nil {
			return nil, err
		}
		candidates = named
		slices.SortFunc(candidates, func(a, b *Instance) int { return cmp.Compare(a.Number, b.Number) })
	}
	var out []*Instance
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

func (r *Instances) instanceAttributes(i *Instance) attributes {
	lifecycle := "scheduled"
	if i.Spot {
		lifecycle = "spot"
	}
	vpcID := ""
	if s := r.Network.Subnets.Get(i.Subnet); s != nil {
		vpcID = s.VPC
	}
	status := "ok"
	if i.Impaired(r.Now) {
		status = "impaired"
	}
	return attributes{
		"instance-id": {i.ID}, "instance-state-name": {i.State}, "instance-state-code": {strconv.Itoa(int(stateCodes[i.State]))},
		"instance-type": {i.Type}, "image-id": {i.Image}, "subnet-id": {i.Subnet}, "vpc-id": {vpcID}, "availability-zone": {i.Zone},
		"private-ip-address": {i.Address}, "private-dns-name": {r.Hostname(i)}, "key-name": {i.Key}, "client-token": {i.Token},
		"instance.group-id": i.Groups, "network-interface.group-id": i.Groups, "instance-lifecycle": {lifecycle},
		"reservation-id": {i.Reservation}, "owner-id": {r.Account}, "iam-instance-profile.arn": {r.profileARN(i)},
		"instance-status.status": {status}, "system-status.status": {status}, "launch-time": {i.Launch.UTC().Format("2006-01-02T15:04:05.000Z")},
	}
}

func (r *Instances) describeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	size, err := pageSize(in.MaxResults, 5, instancePage, instancePage, in.InstanceIds)
	if err != nil {
		return nil, err
	}
	found, err := r.instancesAsked(in.InstanceIds, in.Filters)
	if err != nil {
		return nil, err
	}
	if !shapes.Val(in.IncludeAllInstances) {
		found = slices.DeleteFunc(found, func(i *Instance) bool { return i.State != StateRunning })
	}
	page, next, err := account.Paged(r.Core, found, instanceKey, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceStatusOutput{NextToken: next}
	for _, i := range page {
		status := "not-applicable"
		switch {
		case i.Impaired(r.Now) && i.Alive():
			status = "impaired"
		case i.State == StateRunning:
			status = "ok"
		}
		summary := &ec2.InstanceStatusSummary{Status: status}
		out.InstanceStatuses = append(out.InstanceStatuses, ec2.InstanceStatus{
			InstanceId: new(i.ID), AvailabilityZone: new(i.Zone), InstanceState: stateOf(i), InstanceStatus: summary, SystemStatus: summary,
		})
	}
	return out, nil
}

func (r *Instances) getConsoleOutput(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
	found, err := r.instancesByID([]string{shapes.Str(in.InstanceId)})
	if err != nil {
		return nil, err
	}
	out := &ec2.GetConsoleOutputOutput{InstanceId: in.InstanceId, Timestamp: shapes.Stamp(r.Now)}
	if r.Host != nil {
		console := r.Host.Console(found[0].ID)
		console = console[max(0, len(console)-maxConsole):]
		out.Output = new(base64.StdEncoding.EncodeToString(console))
	}
	return out, nil
}
