#!/usr/bin/python3
"""Runs a command in a network of its own, in which there is nothing but a loopback interface.

usage: loopback.py COMMAND [ARGUMENT]...
"""
import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
    sys.exit(f"loopback.py: {os.strerror(ctypes.get_errno())}")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
os.execvp(sys.argv[1], sys.argv[1:])
