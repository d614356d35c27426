package launch

import (
	"fmt"
	"strconv"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
)

const (
	fieldPlugins  = fieldConfiguration + "agentConfig.pluginsConfigs"
	fieldPlatform = fieldConfiguration + "platformConfig"
	// terminate is the only action of OCI on instances whose capacity it needs.
	terminate = "TERMINATE"
)

// Decimal returns the value of a number in a text; nil for an empty one.
func Decimal(field string, value *ociv1.Decimal) (*float64, error) {
	if value == nil || *value == "" {
		return nil, nil
	}
	number, err := strconv.ParseFloat(string(*value), 64)
	if err != nil || number <= 0 {
		return nil, cloud.Invalidf(field, "found %q, must be a number above 0 such as 2 or 1.5", *value)
	}
	return &number, nil
}

// putShape sets the size of a flexible shape.
func (s Source) putShape(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := s.Pool.InstanceConfiguration.ShapeConfig
	if is == nil {
		return nil
	}
	ocpus, err := Decimal(FieldShapeConfig+".ocpus", is.OCPUs)
	if err != nil {
		return err
	}
	memory, err := Decimal(FieldShapeConfig+".memoryInGBs", is.MemoryInGBs)
	if err != nil {
		return err
	}
	size := core.InstanceConfigurationLaunchInstanceShapeConfigDetails{
		Ocpus: ocpus, MemoryInGBs: memory, BaselineOcpuUtilization: text(&is.BaselineOCPUUtilization), Nvmes: is.Nvmes,
	}
	if size != (core.InstanceConfigurationLaunchInstanceShapeConfigDetails{}) {
		d.ShapeConfig = &size
	}
	return nil
}

// putAgent sets the settings of the Oracle Cloud Agent.
func (s Source) putAgent(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := s.Pool.InstanceConfiguration.AgentConfig
	if is == nil {
		return nil
	}
	d.AgentConfig = &core.InstanceConfigurationLaunchInstanceAgentConfigDetails{
		IsMonitoringDisabled: is.IsMonitoringDisabled, IsManagementDisabled: is.IsManagementDisabled,
		AreAllPluginsDisabled: is.AreAllPluginsDisabled,
	}
	for k, plugin := range is.PluginsConfig {
		field := fmt.Sprintf("%s[%d]", fieldPlugins, k)
		switch {
		case text(plugin.Name) == nil:
			return cloud.Invalidf(field+".name", "must be the name of a plugin, for example Compute Instance Monitoring")
		case plugin.DesiredState == "":
			return cloud.Invalidf(field+".desiredState", "must be ENABLED or DISABLED")
		}
		d.AgentConfig.PluginsConfig = append(d.AgentConfig.PluginsConfig, core.InstanceAgentPluginConfigDetails{
			Name: plugin.Name, DesiredState: new(plugin.DesiredState)})
	}
	return nil
}

func availabilityOf(is *ociv1.InstanceConfiguration) *core.InstanceConfigurationAvailabilityConfig {
	if is.AvailabilityConfig == nil {
		return nil
	}
	return &core.InstanceConfigurationAvailabilityConfig{
		IsLiveMigrationPreferred: is.AvailabilityConfig.IsLiveMigrationPreferred, RecoveryAction: text(&is.AvailabilityConfig.RecoveryAction),
	}
}

func preemptibleOf(is *ociv1.InstanceConfiguration) *core.PreemptibleInstanceConfigDetails {
	if is.PreemptibleInstanceConfig == nil {
		return nil
	}
	action := &core.PreemptionAction{Type: new(terminate)}
	if given := is.PreemptibleInstanceConfig.TerminatePreemptionAction; given != nil {
		action.PreserveBootVolume = given.PreserveBootVolume
	}
	return &core.PreemptibleInstanceConfigDetails{PreemptionAction: action}
}

func launchOptionsOf(is *ociv1.InstanceConfiguration) *core.InstanceConfigurationLaunchOptions {
	o := is.LaunchOptions
	if o == nil {
		return nil
	}
	bootVolume, dataVolume := string(o.BootVolumeType), string(o.RemoteDataVolumeType)
	return &core.InstanceConfigurationLaunchOptions{
		BootVolumeType: text(&bootVolume), RemoteDataVolumeType: text(&dataVolume),
		Firmware: text(&o.Firmware), NetworkType: text(&o.NetworkType),
		IsConsistentVolumeNamingEnabled: o.IsConsistentVolumeNamingEnabled,
	}
}

func instanceOptionsOf(is *ociv1.InstanceConfiguration) *core.InstanceConfigurationInstanceOptions {
	if is.InstanceOptions == nil {
		return nil
	}
	return &core.InstanceConfigurationInstanceOptions{AreLegacyImdsEndpointsDisabled: is.InstanceOptions.AreLegacyIMDSEndpointsDisabled}
}

// platform collects the settings of a platform. OCI has the settings of all platforms in one document.
type platform core.InstanceConfigurationLaunchInstancePlatformConfig

func (p *platform) boot(is ociv1.BootPlatformConfig) {
	p.IsSecureBootEnabled, p.IsTrustedPlatformModuleEnabled = is.IsSecureBootEnabled, is.IsTrustedPlatformModuleEnabled
	p.IsMeasuredBootEnabled, p.IsMemoryEncryptionEnabled = is.IsMeasuredBootEnabled, is.IsMemoryEncryptionEnabled
}

func (p *platform) threads(is ociv1.ThreadsPlatformConfig) {
	p.boot(is.BootPlatformConfig)
	p.IsSymmetricMultiThreadingEnabled = is.IsSymmetricMultiThreadingEnabled
	p.IsInputOutputMemoryManagementUnitEnabled = is.IsInputOutputMemoryManagementUnitEnabled
}

func (p *platform) gpu(is ociv1.AMDGPUPlatformConfig) {
	p.threads(is.ThreadsPlatformConfig)
	p.IsAccessControlServiceEnabled, p.AreVirtualInstructionsEnabled = is.IsAccessControlServiceEnabled, is.AreVirtualInstructionsEnabled
	p.NumaNodesPerSocket = text(&is.NumaNodesPerSocket)
}

func (p *platform) amd(is ociv1.AMDPlatformConfig) {
	p.gpu(is.AMDGPUPlatformConfig)
	p.PercentageOfCoresEnabled = (*int)(is.PercentageOfCoresEnabled)
}

func (p *platform) icelake(is ociv1.IntelIcelakePlatformConfig) {
	p.threads(is.ThreadsPlatformConfig)
	p.PercentageOfCoresEnabled, p.NumaNodesPerSocket = (*int)(is.PercentageOfCoresEnabled), text(&is.NumaNodesPerSocket)
}

// put puts the settings of a platform, if there are any.
func put[T any](is *T, into func(T)) {
	if is != nil {
		into(*is)
	}
}

// putPlatform sets the settings of the platform that the specification selects.
func (s Source) putPlatform(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := s.Pool.InstanceConfiguration.PlatformConfig
	if is == nil || *is == (ociv1.PlatformConfig{}) {
		return nil
	}
	kind := string(is.PlatformConfigType)
	out := &platform{Type: &kind}
	switch is.PlatformConfigType {
	case ociv1.PlatformAMDMilanBareMetalMachine:
		put(is.AMDMilanBM, out.amd)
	case ociv1.PlatformAMDRomeBareMetal:
		put(is.AMDRomeBM, out.amd)
	case ociv1.PlatformAMDRomeBareMetalGPU:
		put(is.AMDRomeBMGPU, out.gpu)
	case ociv1.PlatformIntelIcelakeBareMetal:
		put(is.IntelIcelakeBM, out.icelake)
	case ociv1.PlatformIntelSkylakeBareMetal:
		put(is.IntelSkylakeBM, out.boot)
	case ociv1.PlatformIntelVirtualMachine:
		put(is.IntelVM, out.boot)
	case ociv1.PlatformAMDVirtualMachine:
		put(is.AMDVM, out.boot)
	default:
		return cloud.Invalidf(fieldPlatform+".platformConfigType", "found %q, must name the platform whose settings are used, for "+
			"example %s", kind, ociv1.PlatformAMDVirtualMachine)
	}
	d.PlatformConfig = (*core.InstanceConfigurationLaunchInstancePlatformConfig)(out)
	return nil
}
