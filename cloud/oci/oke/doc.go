// Package oke holds what the drivers of node pools and of virtual node pools of Oracle's Kubernetes Engine have in common: how a pool is
// found among those of its cluster, told from others, read and written, the network of its cluster, and the tag that tells what a node was
// created from.
package oke
