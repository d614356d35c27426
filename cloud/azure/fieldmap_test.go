package azure

import "testing"

// TestTargets holds which field Azure means, by the targets of refusals that it has given.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, target, want string }{
		{"the size", "vmSize", "spec.template.vmSize"},
		{"letter case differs", "VMSIZE", "spec.template.vmSize"},
		{"the longest counts", "osDisk.diskSizeGB", "spec.template.osDisk.diskSizeGB"},
		{"with the whole path", "properties.virtualMachineProfile.storageProfile.osDisk.managedDisk.storageAccountType",
			"spec.template.osDisk.managedDisk.storageAccountType"},
		{"a member of what is named as a whole", "imageReference.sku", "spec.template.image"},
		{"one of a list", "dataDisk.lun", "spec.template.dataDisks"},
		{"the key", "linuxConfiguration.ssh.publicKeys.keyData", "spec.template.sshPublicKey"},
		{"fixed for ever", "platformFaultDomainCount", "spec.platformFaultDomainCount"},
		{"nothing of the object's", "instanceIds", ""},
		{"nothing is said", "", ""},
	} {
		if got := fieldOfTarget(c.target); got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}
