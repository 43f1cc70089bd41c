// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package intercept

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// localOf returns how a method of go-plugin's own services is answered, nil
// when the method belongs to the provider. These services are about the
// process at the other end of the connection, and that is the proxy.
func localOf(method string) func(*exchange) error {
	switch method {
	case "/plugin.GRPCBroker/StartStream":
		return (*exchange).holdOpen
	case "/plugin.GRPCStdio/StreamStdio":
		return (*exchange).holdOpen
	case "/plugin.GRPCController/Shutdown":
		return (*exchange).shutdown
	case "/grpc.health.v1.Health/Check":
		return (*exchange).health
	default:
		return nil
	}
}

// holdOpen keeps a stream open on which nothing is ever sent: no provider of
// Terraform uses the broker, and what providers print goes to the log.
func (x *exchange) holdOpen() error {
	select {
	case <-x.stream.Context().Done():
		return status.FromContextError(x.stream.Context().Err()).Err()
	case <-x.conn.provider.host.closing.Done():
		return status.Error(codes.Unavailable, errClosing.Error())
	}
}

// shutdown only acknowledges: the processes are ended by the host, because
// other connections share them.
func (x *exchange) shutdown() error {
	if err := x.stream.RecvMsg(&frame{}); err != nil {
		return err
	}
	return x.stream.SendMsg(&emptypb.Empty{})
}

func (x *exchange) health() error {
	if err := x.stream.RecvMsg(&frame{}); err != nil {
		return err
	}
	return x.stream.SendMsg(&grpc_health_v1.HealthCheckResponse{
		Status: grpc_health_v1.HealthCheckResponse_SERVING,
	})
}
