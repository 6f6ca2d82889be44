/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's programs as data of the library. */
  .section .rodata
  .balign 16
  .global tutti_network_nic_begin, tutti_network_nic_end
tutti_network_nic_begin:
  .incbin NIC_OBJECT
tutti_network_nic_end:
  .balign 16
  .global tutti_network_switch_begin, tutti_network_switch_end
tutti_network_switch_begin:
  .incbin SWITCH_OBJECT
tutti_network_switch_end:
  .section .note.GNU-stack, "", @progbits
