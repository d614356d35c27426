package v1beta1

// SysctlConfig is the set of kernel settings that AKS lets users choose. Ranges are those that AKS documents
// (Customize node configuration for AKS node pools). An absent setting has the default of the node image.
type SysctlConfig struct {
	// FsAioMaxNr is the largest number of asynchronous I/O requests in the system (fs.aio-max-nr).
	// +optional
	// +kubebuilder:validation:Minimum=65536
	// +kubebuilder:validation:Maximum=6553500
	FsAioMaxNr *int32 `json:"fsAioMaxNr,omitempty"`

	// FsFileMax is the largest number of file handles that the kernel allocates (fs.file-max).
	// +optional
	// +kubebuilder:validation:Minimum=8192
	// +kubebuilder:validation:Maximum=12000500
	FsFileMax *int32 `json:"fsFileMax,omitempty"`

	// FsInotifyMaxUserWatches is the largest number of file watches of a user (fs.inotify.max_user_watches).
	// +optional
	// +kubebuilder:validation:Minimum=781250
	// +kubebuilder:validation:Maximum=2097152
	FsInotifyMaxUserWatches *int32 `json:"fsInotifyMaxUserWatches,omitempty"`

	// FsNrOpen is the largest number of file handles that a process allocates (fs.nr_open).
	// +optional
	// +kubebuilder:validation:Minimum=8192
	// +kubebuilder:validation:Maximum=20000500
	FsNrOpen *int32 `json:"fsNrOpen,omitempty"`

	// KernelThreadsMax is the largest number of threads in the system (kernel.threads-max).
	// +optional
	// +kubebuilder:validation:Minimum=20
	// +kubebuilder:validation:Maximum=513785
	KernelThreadsMax *int32 `json:"kernelThreadsMax,omitempty"`

	// NetCoreNetdevMaxBacklog is the largest number of received packets that wait for the kernel (net.core.netdev_max_backlog).
	// +optional
	// +kubebuilder:validation:Minimum=1000
	// +kubebuilder:validation:Maximum=3240000
	NetCoreNetdevMaxBacklog *int32 `json:"netCoreNetdevMaxBacklog,omitempty"`

	// NetCoreOptmemMax is the largest ancillary buffer of a socket, in bytes (net.core.optmem_max).
	// +optional
	// +kubebuilder:validation:Minimum=20480
	// +kubebuilder:validation:Maximum=4194304
	NetCoreOptmemMax *int32 `json:"netCoreOptmemMax,omitempty"`

	// NetCoreRmemDefault is the default receive buffer of a socket, in bytes (net.core.rmem_default).
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreRmemDefault *int32 `json:"netCoreRmemDefault,omitempty"`

	// NetCoreRmemMax is the largest receive buffer of a socket, in bytes (net.core.rmem_max).
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreRmemMax *int32 `json:"netCoreRmemMax,omitempty"`

	// NetCoreSomaxconn is the largest number of connection requests that wait at a listening socket (net.core.somaxconn).
	// +optional
	// +kubebuilder:validation:Minimum=4096
	// +kubebuilder:validation:Maximum=3240000
	NetCoreSomaxconn *int32 `json:"netCoreSomaxconn,omitempty"`

	// NetCoreWmemDefault is the default send buffer of a socket, in bytes (net.core.wmem_default).
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreWmemDefault *int32 `json:"netCoreWmemDefault,omitempty"`

	// NetCoreWmemMax is the largest send buffer of a socket, in bytes (net.core.wmem_max).
	// +optional
	// +kubebuilder:validation:Minimum=212992
	// +kubebuilder:validation:Maximum=134217728
	NetCoreWmemMax *int32 `json:"netCoreWmemMax,omitempty"`

	// NetIpv4IPLocalPortRange is the range of local ports (net.ipv4.ip_local_port_range), as "FIRST LAST": FIRST from 1024 to 60999, LAST
	// from 32768 to 65000 and not below FIRST.
	// +optional
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{1,5} [0-9]{1,5}$') && int(self.split(' ')[0]) >= 1024 && int(self.split(' ')[0]) <= 60999 && int(self.split(' ')[1]) >= 32768 && int(self.split(' ')[1]) <= 65000 && int(self.split(' ')[0]) <= int(self.split(' ')[1])",reason=FieldValueInvalid,message="must be two numbers with a space between, the first from 1024 to 60999, the last from 32768 to 65000 and not below the first"
	NetIpv4IPLocalPortRange *string `json:"netIpv4IPLocalPortRange,omitempty"`

	// NetIpv4NeighDefaultGcThresh1 is the number of ARP entries below which none is collected (net.ipv4.neigh.default.gc_thresh1).
	// +optional
	// +kubebuilder:validation:Minimum=128
	// +kubebuilder:validation:Maximum=80000
	NetIpv4NeighDefaultGcThresh1 *int32 `json:"netIpv4NeighDefaultGcThresh1,omitempty"`

	// NetIpv4NeighDefaultGcThresh2 is the number of ARP entries above which collection starts soon (net.ipv4.neigh.default.gc_thresh2).
	// +optional
	// +kubebuilder:validation:Minimum=512
	// +kubebuilder:validation:Maximum=90000
	NetIpv4NeighDefaultGcThresh2 *int32 `json:"netIpv4NeighDefaultGcThresh2,omitempty"`

	// NetIpv4NeighDefaultGcThresh3 is the largest number of ARP entries (net.ipv4.neigh.default.gc_thresh3).
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=100000
	NetIpv4NeighDefaultGcThresh3 *int32 `json:"netIpv4NeighDefaultGcThresh3,omitempty"`

	// NetIpv4TCPFinTimeout is the time for which an orphaned connection stays in FIN_WAIT_2, in seconds (net.ipv4.tcp_fin_timeout).
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=120
	NetIpv4TCPFinTimeout *int32 `json:"netIpv4TCPFinTimeout,omitempty"`

	// NetIpv4TCPKeepaliveProbes is the number of unanswered probes after which a connection counts as broken (net.ipv4.tcp_keepalive_probes).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=15
	NetIpv4TCPKeepaliveProbes *int32 `json:"netIpv4TCPKeepaliveProbes,omitempty"`

	// NetIpv4TCPKeepaliveTime is the idle time of a connection before the first probe, in seconds (net.ipv4.tcp_keepalive_time).
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=432000
	NetIpv4TCPKeepaliveTime *int32 `json:"netIpv4TCPKeepaliveTime,omitempty"`

	// NetIpv4TCPMaxSynBacklog is the largest number of connection requests that are not yet acknowledged (net.ipv4.tcp_max_syn_backlog).
	// +optional
	// +kubebuilder:validation:Minimum=128
	// +kubebuilder:validation:Maximum=3240000
	NetIpv4TCPMaxSynBacklog *int32 `json:"netIpv4TCPMaxSynBacklog,omitempty"`

	// NetIpv4TCPMaxTwBuckets is the largest number of sockets in TIME_WAIT (net.ipv4.tcp_max_tw_buckets).
	// +optional
	// +kubebuilder:validation:Minimum=8000
	// +kubebuilder:validation:Maximum=1440000
	NetIpv4TCPMaxTwBuckets *int32 `json:"netIpv4TCPMaxTwBuckets,omitempty"`

	// NetIpv4TCPTwReuse lets new connections use sockets in TIME_WAIT (net.ipv4.tcp_tw_reuse).
	// +optional
	NetIpv4TCPTwReuse *bool `json:"netIpv4TCPTwReuse,omitempty"`

	// NetIpv4TCPkeepaliveIntvl is the time between two probes, in seconds (net.ipv4.tcp_keepalive_intvl).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=75
	NetIpv4TCPkeepaliveIntvl *int32 `json:"netIpv4TCPkeepaliveIntvl,omitempty"`

	// NetNetfilterNfConntrackBuckets is the size of the hash table of tracked connections (net.netfilter.nf_conntrack_buckets).
	// +optional
	// +kubebuilder:validation:Minimum=65536
	// +kubebuilder:validation:Maximum=147456
	NetNetfilterNfConntrackBuckets *int32 `json:"netNetfilterNfConntrackBuckets,omitempty"`

	// NetNetfilterNfConntrackMax is the largest number of tracked connections (net.netfilter.nf_conntrack_max).
	// +optional
	// +kubebuilder:validation:Minimum=131072
	// +kubebuilder:validation:Maximum=1048576
	NetNetfilterNfConntrackMax *int32 `json:"netNetfilterNfConntrackMax,omitempty"`

	// VMMaxMapCount is the largest number of memory map areas of a process (vm.max_map_count).
	// +optional
	// +kubebuilder:validation:Minimum=65530
	// +kubebuilder:validation:Maximum=262144
	VMMaxMapCount *int32 `json:"vmMaxMapCount,omitempty"`

	// VMSwappiness controls how readily the kernel swaps memory pages, from 0 to 100 (vm.swappiness).
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	VMSwappiness *int32 `json:"vmSwappiness,omitempty"`

	// VMVfsCachePressure controls how readily the kernel reclaims memory of directory and inode caches, in percent (vm.vfs_cache_pressure).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	VMVfsCachePressure *int32 `json:"vmVfsCachePressure,omitempty"`
}
